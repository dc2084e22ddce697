import { RockpoolError, type CellValue, type ChangeKind } from '@rockpool/shared';
import type { WaitingPush } from '../admission/admit-pushes.ts';
import type { PushQueue } from '../admission/push-queue.ts';
import { outcomesAfter } from '../log/outcomes.ts';
import type { SiteState } from '../log/sites.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { ownPush, ownSite } from './own-site.ts';

/** A row that the server's own program writes. */
export interface BackendRowWrite {
  readonly table: StoredTable;
  readonly kind: ChangeKind;
  readonly key: readonly CellValue[];
}

/** The writes of one transaction of the server's own program. */
export interface BackendChangeset {
  /** A changeset body, built from the current state of the file. */
  readonly body: Uint8Array;
  readonly rows: readonly BackendRowWrite[];
}

export interface BackendWrite extends BackendChangeset {
  readonly principal: string;
  readonly nowMs: number;
}

/**
 * Admits a changeset of the server's own program like a client's push. Resolves with its watermark once it is durable;
 * rejects with the reason why it was rejected or could not be stored, such as `constraint-primary-key` or `row-missing`
 * if another commit has inserted or deleted one of its rows since the changeset was built. With the `deleteRule`
 * `update-wins`, an update brings a deleted row back.
 */
export async function writeFromBackend(
  file: DatabaseFile,
  queue: PushQueue,
  { body, rows, principal, nowMs }: BackendWrite,
): Promise<number> {
  const base = file.log.watermark;
  let site = '';
  let sequence = 0;
  let problem: RockpoolError | undefined;
  const take = (): WaitingPush => {
    site = ownSite(file);
    const push = ownPush(file, site, body, base, nowMs);
    sequence = push.changesets.at(-1)?.sequence ?? 0;
    const sender = { principal, receivedMs: nowMs, isForeign: false };
    // A commit of another instance, or one before this in the queue, may have inserted or deleted a row.
    problem = rows
      .filter((row) => !mayRevive(row))
      .map((row) => rowProblem(file, row))
      .find((found) => found !== null);
    return { site, push: problem === undefined ? push : { ...push, changesets: [] }, sender };
  };
  const refusal = await new Promise<RockpoolError | null>((settled) => {
    queue.pushLate(site, body.length, take, settled);
    void queue.drainAll();
  });
  if (refusal !== null) throw refusal;
  if (problem !== undefined) throw problem;
  const { number } = file.sites.get(site) as SiteState;
  const outcome = outcomesAfter(file.sql, number, sequence - 1).find(
    (stored) => stored.outcome.sequence === sequence,
  )?.outcome;
  queue.confirm({ site, cursor: file.log.watermark, lastAckedSequence: sequence });
  if (outcome?.kind === 'admitted') return outcome.watermark;
  throw new RockpoolError(outcome?.code ?? 'internal', outcome?.fields);
}

/** Whether the write brings back a row that was deleted concurrently, as a client's update does. */
function mayRevive({ table, kind }: BackendRowWrite): boolean {
  return kind === 'update' && table.rules.deleteRule === 'update-wins';
}

/** Why a row cannot be written now; null if it can. */
export function rowProblem(file: DatabaseFile, { table, kind, key }: BackendRowWrite): RockpoolError | null {
  const isStored = file.sql.get(table.selectSql, ...key) !== undefined;
  if (isStored === (kind !== 'insert')) return null;
  return new RockpoolError(isStored ? 'constraint-primary-key' : 'row-missing', { table: table.schema.name });
}
