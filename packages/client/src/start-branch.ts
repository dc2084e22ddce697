import { RockpoolError, type Schema } from '@rockpool/shared';
import { BranchEnding } from './branch/branch-ending.ts';
import { BranchMerging, isMerged } from './branch/branch-merging.ts';
import type { BranchDocuments } from './branch/changed-rows.ts';
import { guardedCalls } from './branch/guarded-calls.ts';
import { OpenDocuments } from './branch/open-documents.ts';
import { describeChange } from './branch/plan-merge.ts';
import type { WriteGate } from './branch/write-gate.ts';
import type { Branch, Client } from './client.ts';
import type { ClientEnvironment } from './client-session.ts';
import { liveQueryInspections } from './live-query-inspection.ts';
import { newId } from './new-id.ts';
import { branchName, type BranchStart } from './rpc/branch-file.ts';
import type { RowKey } from './rpc/row-key.ts';

export interface BranchParts {
  readonly origin: Client;
  /** The branch's own database. */
  readonly client: Client;
  readonly file: string;
  /** Every write of this tab to the branch passes through it. */
  readonly gate: WriteGate;
  readonly environment: ClientEnvironment;
  readonly schema: Schema;
  readonly loadDocuments: () => Promise<BranchDocuments>;
  readonly onProblem: (error: RockpoolError) => void;
}

/**
 * Adds the operations of a branch to the client of its database. Rejects with `branch-ended` if it was merged before,
 * and with `branch-missing` if its creation was interrupted, and removes the file.
 */
export async function startBranch(parts: BranchParts): Promise<Branch> {
  const { client, origin, file, environment, gate, onProblem } = parts;
  const name = branchName(file);
  const start = await readStart(client);
  if (start === null) return removeInterrupted(parts);
  const ending = new BranchEnding({
    branch: name,
    start,
    client,
    deleteFile: () => environment.deleteDatabase(file),
    onProblem,
  });
  await requireUnmerged(ending, origin, start);
  const merging = new BranchMerging({ ...parts, branchName: name, start });
  let last: Promise<unknown> = Promise.resolve();
  /** Merges and discards run one at a time, as long as the branch is open. */
  function inOrder<T>(end: () => Promise<T>): Promise<T> {
    const ended = last.then(() => {
      ending.requireOpen();
      return end();
    });
    last = ended.catch(() => undefined);
    return ended;
  }
  const guarded = guardedCalls(client, () => ending.ended, name);
  const documents = new OpenDocuments();
  const branch: Branch = {
    ...guarded,
    branchName: name,
    begunMs: start.begunMs,
    branch: () => Promise.reject(new RockpoolError('branch-of-branch', { branch: name })),
    openBranch: () => Promise.reject(new RockpoolError('branch-of-branch', { branch: name })),
    listBranches: () => Promise.resolve([]),
    document: <Value>(table: string, key: RowKey, column: string) =>
      documents.note(guarded.document<Value>(table, key, column)),
    async diff() {
      ending.requireOpen();
      const changed = await merging.changedRows();
      return changed.map(({ table, key, base, ours }) => describeChange(table, key, base, ours));
    },
    async preview() {
      ending.requireOpen();
      return merging.preview();
    },
    merge: (options = {}) =>
      inOrder(async () => {
        if (documents.count > 0) await documents.save();
        const transactionId = newId();
        gate.close(transactionId);
        const merged = await merging.merge(options, transactionId).catch((thrown: unknown) => {
          gate.open();
          throw thrown;
        });
        gate.end(new RockpoolError('branch-ended', { branch: name, by: 'merge' }));
        // The merge stays committed even if the file cannot be removed; the next opening removes it.
        await ending.end('merge').catch(onProblem);
        return merged;
      }),
    discard: () => inOrder(() => ending.end('discard')),
    leave: () => branch.discard(),
    close: () => ending.close(),
  };
  const inspected = liveQueryInspections.get(client);
  if (inspected !== undefined) liveQueryInspections.set(branch, inspected);
  return branch;
}

/** Runs after `ending` listens to other tabs, so that it misses no merge. */
async function requireUnmerged(ending: BranchEnding, origin: Client, start: BranchStart): Promise<void> {
  const hasMerged = await isMerged((statement) => origin.query(statement), start).catch(async (thrown: unknown) => {
    await ending.close();
    throw thrown;
  });
  ending.requireOpen(); // Another tab may have ended the branch meanwhile.
  if (!hasMerged) return;
  await ending.end('merge');
  ending.requireOpen();
}

async function removeInterrupted({ client, file, environment, onProblem }: BranchParts): Promise<never> {
  await client.close();
  // Another tab that has just opened it removes it.
  await environment.deleteDatabase(file).catch(onProblem);
  throw new RockpoolError('branch-missing', { branch: branchName(file) });
}

/** Null for an empty database, which a worker leaves that dies while it copies the origin. */
async function readStart(client: Client): Promise<BranchStart | null> {
  const [row] = await client.query<{ json: string }>(
    "SELECT value AS json FROM rockpool_meta WHERE key = 'branch_json'",
  );
  return row === undefined ? null : (JSON.parse(row.json) as BranchStart);
}
