import { RockpoolError, toRockpoolError, type Schema } from '@rockpool/shared';
import type { Client } from '../client.ts';
import type { BranchMergeOptions, BranchPreview } from '../interface/branch-merge.ts';
import type { Transaction } from '../interface/writes.ts';
import type { BranchStart } from '../rpc/branch-file.ts';
import { newId } from '../new-id.ts';
import { isUnflushed } from '../tab/synced-writes.ts';
import { readChangedRows, type BranchDocuments, type ChangedRow } from './changed-rows.ts';
import { withDependentRows } from './dependent-rows.ts';
import { describeChange, planMerge, type Decide, type PlannedMerge } from './plan-merge.ts';
import { keyText, readRows, type Query, type RowImage, type RowImages } from './row-image.ts';
import { writeMerge } from './write-merge.ts';

/** The maximum `timeoutMs` of a transaction. */
const TIMEOUT_MS = 8_000;
const READ_ATTEMPTS = 5;

export interface BranchMergingParts {
  readonly branchName: string;
  readonly start: BranchStart;
  readonly origin: Pick<Client, 'query' | 'transaction'>;
  /** The branch's own database. */
  readonly client: Pick<Client, 'query' | 'transaction'>;
  readonly schema: Schema;
  /** Loads document support, and with it Yjs. */
  readonly loadDocuments: () => Promise<BranchDocuments>;
  /** Called with `storage-unflushed` if the merge is committed but could not be flushed. */
  readonly onProblem: (error: RockpoolError) => void;
}

/** Whether the origin already contains the transaction that merged the branch. */
export async function isMerged(query: Query, { id }: Pick<BranchStart, 'id'>): Promise<boolean> {
  const rows = await query({ sql: 'SELECT 1 FROM rockpool_request WHERE id = ?', params: [id] });
  return rows.length > 0;
}

/** Compares a branch with its beginning and its origin. */
export class BranchMerging {
  private readonly parts: BranchMergingParts;

  constructor(parts: BranchMergingParts) {
    this.parts = parts;
  }

  /** Reads without a transaction, and reads again if the branch was written meanwhile. */
  async changedRows(): Promise<ChangedRow[]> {
    const { client } = this.parts;
    const newest = async (): Promise<unknown> =>
      (await client.query('SELECT max(sequence) AS newest FROM rockpool_changelog'))[0]?.['newest'];
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      const before = await newest();
      const changed = await this.readChanged((statement) => client.query(statement));
      if ((await newest()) === before) return changed;
    }
    // The branch is written too often to be read without a lock, so a transaction blocks its writers.
    return client.transaction((tx) => this.readChanged((statement) => tx.query(statement)), { timeoutMs: TIMEOUT_MS });
  }

  async preview(): Promise<BranchPreview> {
    const query: Query = (statement) => this.parts.origin.query(statement);
    await this.requireSameSchema(query);
    return toPreview(await this.plan(await this.changedRows(), query, () => 'branch'));
  }

  /**
   * Locks the branch against writes during the merge, so that the merge misses no write. The lock is the transaction
   * with the given id. Resolves if the origin has committed the merge, even if an error was reported.
   */
  async merge({ conflicts }: BranchMergeOptions, transactionId: string = newId()): Promise<BranchPreview> {
    const { origin, client, start, onProblem } = this.parts;
    const stop = new AbortController();
    let preview: BranchPreview | null = null;
    let writing: Promise<unknown> = Promise.resolve();
    const underLock = async (own: Transaction): Promise<void> => {
      const changed = await this.readChanged((statement) => own.query(statement));
      const body = async (tx: Transaction): Promise<void> => {
        preview = await this.mergeIn(tx, changed, conflicts);
      };
      // With this request id, a repeated merge finds the result of the first one. Triggers do not run, because the
      // changes already include what they wrote.
      const options = { timeoutMs: TIMEOUT_MS, requestId: start.id, withoutTriggers: true, signal: stop.signal };
      writing = origin.transaction(body, options);
      await writing;
    };
    const lock = { timeoutMs: TIMEOUT_MS, requestId: transactionId };
    try {
      await client.transaction(underLock, lock);
    } catch (thrown) {
      // The lock may have timed out before the merge. Without the lock, the merge must not be committed later.
      stop.abort();
      const failure = await writing.then(() => null, toRockpoolError);
      if (preview === null || !(await this.isCommitted())) throw thrown;
      if (failure !== null && isUnflushed(failure)) onProblem(failure);
    }
    return preview as unknown as BranchPreview;
  }

  private async isCommitted(): Promise<boolean> {
    const { origin, start } = this.parts;
    return isMerged((statement) => origin.query(statement), start).catch(() => false);
  }

  private async mergeIn(
    tx: Transaction,
    changed: readonly ChangedRow[],
    conflicts: BranchMergeOptions['conflicts'],
  ): Promise<BranchPreview> {
    const query: Query = (statement) => tx.query(statement);
    await this.requireSameSchema(query);
    const { branchName } = this.parts;
    if (await isMerged(query, this.parts.start))
      throw new RockpoolError('branch-ended', { branch: branchName, by: 'merge' });
    const decide: Decide = (conflict) => {
      if (conflicts === undefined) return 'branch';
      return requireDecision(typeof conflicts === 'function' ? conflicts(conflict) : conflicts);
    };
    const plan = await this.plan(changed, query, decide);
    if (conflicts === undefined && plan.conflicts.length > 0)
      throw new RockpoolError('branch-conflicts', { count: plan.conflicts.length });
    await writeMerge(tx, plan.rows);
    return toPreview(plan);
  }

  private async requireSameSchema(query: Query): Promise<void> {
    const sql = "SELECT value FROM rockpool_meta WHERE key = 'schema_hash'";
    const [row] = await query({ sql, params: [] });
    const { branchName, start } = this.parts;
    const [branchSchemaHash, schemaHash] = [start.schemaHash, String(row?.['value'])];
    if (schemaHash !== branchSchemaHash)
      throw new RockpoolError('branch-schema-changed', { branch: branchName, branchSchemaHash, schemaHash });
  }

  private async plan(changed: readonly ChangedRow[], query: Query, decide: Decide): Promise<PlannedMerge> {
    const theirs = new Map<string, RowImages>();
    for (const table of new Set(changed.map((row) => row.table))) {
      const keys = changed.flatMap((row) => (row.table === table ? [row.key] : []));
      theirs.set(table.name, await readRows(query, table, keys));
    }
    const theirsOf = ({ table, key }: ChangedRow): RowImage => theirs.get(table.name)?.get(keyText(key)) ?? null;
    const plan = planMerge(changed, theirsOf, decide, await this.documents());
    return withDependentRows(plan, { query, schema: this.parts.schema, changed, decide });
  }

  private async readChanged(query: Query): Promise<ChangedRow[]> {
    return readChangedRows(query, this.parts.schema, this.parts.start.sequence, await this.documents());
  }

  private async documents(): Promise<BranchDocuments | null> {
    const hasDocuments = this.parts.schema.tables.some(({ merge }) => merge.documents.length > 0);
    if (!hasDocuments) return null;
    return this.parts.loadDocuments();
  }
}

/** Anything else, such as the promise of an async function, must not discard the values of the branch. */
function requireDecision(decision: ReturnType<Decide>): ReturnType<Decide> {
  if (!['branch', 'origin'].includes(decision))
    throw new RockpoolError('config-invalid', {
      problem: 'conflicts: must be branch, origin or a function that returns one of them',
    });
  return decision;
}

function toPreview({ rows, conflicts }: PlannedMerge): BranchPreview {
  return { rows: rows.map(({ table, key, theirs, merged }) => describeChange(table, key, theirs, merged)), conflicts };
}
