import { RockpoolError, type CellValue } from '@rockpool/shared';
import type { WaitingPush } from '../admission/admit-pushes.ts';
import type { PushQueue } from '../admission/push-queue.ts';
import { outcomesAfter } from '../log/outcomes.ts';
import type { SiteState } from '../log/sites.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { ownPush, ownSite } from './own-site.ts';

/** A row that the server's own program inserts. */
export interface InsertedRow {
  readonly table: StoredTable;
  readonly key: readonly CellValue[];
}

/** The writes of one transaction of the server's own program. */
export interface BackendChangeset {
  /** A changeset body, built from the current state of the file. */
  readonly body: Uint8Array;
  readonly inserted: readonly InsertedRow[];
}

export interface BackendWrite extends BackendChangeset {
  readonly principal: string;
  readonly nowMs: number;
}

/**
 * Admits a changeset of the server's own program like a client's push. Resolves with its watermark once it is durable;
 * rejects with the reason why it was rejected or could not be stored, such as `constraint-primary-key` if another
 * commit has inserted one of its rows since the changeset was built.
 */
export async function writeFromBackend(
  file: DatabaseFile,
  queue: PushQueue,
  { body, inserted, principal, nowMs }: BackendWrite,
): Promise<number> {
  const base = file.log.watermark;
  let site = '';
  let sequence = 0;
  let existing: readonly InsertedRow[] = [];
  const take = (): WaitingPush => {
    site = ownSite(file);
    const push = ownPush(file, site, body, base, nowMs);
    sequence = push.changesets.at(-1)?.sequence ?? 0;
    const sender = { principal, receivedMs: nowMs, isForeign: false };
    // A commit of another instance, or one before this in the queue, may have inserted the row.
    existing = inserted.filter((row) => isStored(file, row));
    return { site, push: existing.length === 0 ? push : { ...push, changesets: [] }, sender };
  };
  const refusal = await new Promise<RockpoolError | null>((settled) => {
    queue.pushLate(site, body.length, take, settled);
    void queue.drainAll();
  });
  if (refusal !== null) throw refusal;
  const [row] = existing;
  if (row !== undefined) throw rowExists(row);
  const { number } = file.sites.get(site) as SiteState;
  const outcome = outcomesAfter(file.sql, number, sequence - 1).find(
    (stored) => stored.outcome.sequence === sequence,
  )?.outcome;
  queue.confirm({ site, cursor: file.log.watermark, lastAckedSequence: sequence });
  if (outcome?.kind === 'admitted') return outcome.watermark;
  throw new RockpoolError(outcome?.code ?? 'internal', outcome?.fields);
}

export function isStored(file: DatabaseFile, { table, key }: InsertedRow): boolean {
  return file.sql.get(table.selectSql, ...key) !== undefined;
}

export function rowExists({ table }: InsertedRow): RockpoolError {
  return new RockpoolError('constraint-primary-key', { table: table.schema.name });
}
