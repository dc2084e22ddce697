import {
  decodeKey,
  decodeWrittenRows,
  RockpoolError,
  syncedTables,
  type RowAtVersion,
  type Schema,
} from '@rockpool/shared';
import { isMerged } from '../branch/branch-merging.ts';
import { withDependentRows } from '../branch/dependent-rows.ts';
import type { BranchDocuments, ChangedRow } from '../branch/changed-rows.ts';
import { describeChange, planMerge, type PlannedMerge } from '../branch/plan-merge.ts';
import { keyText, readRows, type Query, type RowImage, type RowImages } from '../branch/row-image.ts';
import { writeMerge } from '../branch/write-merge.ts';
import type { Client } from '../client.ts';
import type { BranchConflict } from '../interface/branch-merge.ts';
import type {
  RestoreConflict,
  RestorePlanOptions,
  RestorePlan,
  RestorePreview,
  RestoreSelection,
} from '../interface/restore-plan.ts';
import { toSqlValue } from '../history/history-row.ts';
import { newId } from '../new-id.ts';
import { isUnflushed } from '../tab/synced-writes.ts';

/** The maximum `timeoutMs` of a transaction. */
const TIMEOUT_MS = 8_000;

export interface RestorePlanParts {
  readonly client: Pick<Client, 'query' | 'transaction'>;
  readonly schema: Schema;
  /** Requests bytes from the server; see WorkerApi.request. */
  readonly request: (path: string) => Promise<Uint8Array>;
  /** Rejects with `changes-unsent` if a transaction of this device that may match is not admitted yet. */
  readonly requireSent: (selection: RestoreSelection) => Promise<void>;
  readonly untilApplied: (watermark: number) => Promise<void>;
  /** Loads document support, and with it Yjs. */
  readonly loadDocuments: () => Promise<BranchDocuments>;
}

/** See Client.planRestore. */
export async function planRestore(parts: RestorePlanParts, selection: RestoreSelection): Promise<RestorePlan> {
  const { client, schema, request, requireSent, untilApplied } = parts;
  const query = selectionQuery(schema, selection);
  await requireSent(selection);
  const { rows, upTo, count } = decodeWrittenRows(await request(`/history/written?${query}`));
  await untilApplied(upTo);
  const changed = changedRows(schema, rows);
  const documents = await documentsOf(parts);
  const plan = async (
    read: Query,
    decide: (conflict: RestoreConflict) => 'restore' | 'keep',
  ): Promise<PlannedMerge> => {
    const theirs = await currentRows(read, changed);
    const merged = planMerge(
      changed,
      (row) => theirs.get(row.table.name)?.get(keyText(row.key)) ?? null,
      (conflict) => toDecision(decide(toRestoreConflict(conflict))),
      documents,
    );
    return withDependentRows(merged, {
      query: read,
      schema,
      changed,
      decide: (conflict) => toDecision(decide(toRestoreConflict(conflict))),
    });
  };
  const preview = toPreview(
    await plan(
      (statement) => client.query(statement),
      () => 'restore',
    ),
  );
  // Its request record says whether an attempt with an unknown outcome was committed.
  const id = `restore:${newId()}`;
  let written: RestorePreview | null = null;
  let applied: Promise<RestorePreview> | null = null;

  async function apply({ conflicts }: RestorePlanOptions): Promise<RestorePreview> {
    if (written !== null && (await isMerged((statement) => client.query(statement), { id }))) return written;
    // The public options have neither `requestId` nor `withoutTriggers`.
    const options = { timeoutMs: TIMEOUT_MS, requestId: id, withoutTriggers: true };
    return client.transaction(async (tx) => {
      const read: Query = (statement) => tx.query(statement);
      const decide = typeof conflicts === 'function' ? conflicts : () => conflicts ?? 'restore';
      const planned = await plan(read, decide);
      if (conflicts === undefined && planned.conflicts.length > 0)
        throw new RockpoolError('restore-conflicts', { count: planned.conflicts.length });
      await writeMerge(tx, planned.rows);
      return (written = toPreview(planned));
    }, options);
  }

  return {
    ...preview,
    transactions: count,
    // Applies once: a second restore would subtract from counters twice.
    apply(options = {}) {
      applied ??= apply(options).catch((thrown: unknown) => {
        if (!isUnflushed(thrown)) applied = null;
        throw thrown;
      });
      return applied;
    },
  };
}

/** Throws `schema-unknown-table`, `history-not-kept` and `request-invalid`. */
function selectionQuery(schema: Schema, selection: RestoreSelection): string {
  // Plain JavaScript may pass none.
  const { site, author, fromMs, toMs, version, tables } = selection ?? ({} as RestoreSelection);
  const kept = syncedTables(schema).filter(({ history }) => history !== undefined);
  for (const name of tables ?? []) {
    if (!syncedTables(schema).some((table) => table.name === name))
      throw new RockpoolError('schema-unknown-table', { table: name });
    if (!kept.some((table) => table.name === name)) throw new RockpoolError('history-not-kept', { table: name });
  }
  if (kept.length === 0) throw new RockpoolError('history-not-kept');
  if (version === undefined && fromMs === undefined && toMs === undefined)
    throw new RockpoolError('request-invalid', { problem: 'pass a version or a time' });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ from: fromMs, to: toMs, version })) {
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RockpoolError('request-invalid', { problem: `${name} must be a positive integer` });
    query.set(name, String(value));
  }
  if (site !== undefined) query.set('site', site);
  if (author !== undefined) query.set('author', author);
  for (const name of tables ?? kept.map((table) => table.name)) query.append('table', name);
  return query.toString();
}

function changedRows(schema: Schema, rows: ReturnType<typeof decodeWrittenRows>['rows']): ChangedRow[] {
  return rows.flatMap(({ tableId, key, after, before }): ChangedRow[] => {
    const table = syncedTables(schema).find(({ id }) => id === tableId);
    if (table === undefined) return [];
    const names = new Map(table.columns.map(({ id, name }) => [id, name]));
    const imageOf = (row: RowAtVersion): RowImage => {
      if (row === null) return null;
      // Skips columns that a newer version of the app added.
      const known = [...row].flatMap(([id, value]): [string, ReturnType<typeof toSqlValue>][] => {
        const name = names.get(id);
        return name === undefined ? [] : [[name, toSqlValue(value)]];
      });
      return new Map(known);
    };
    return [{ table, key: decodeKey(key).map(toSqlValue), base: imageOf(after), ours: imageOf(before) }];
  });
}

async function currentRows(query: Query, changed: readonly ChangedRow[]): Promise<Map<string, RowImages>> {
  const found = new Map<string, RowImages>();
  for (const table of new Set(changed.map((row) => row.table)))
    found.set(
      table.name,
      await readRows(
        query,
        table,
        changed.flatMap((row) => (row.table === table ? [row.key] : [])),
      ),
    );
  return found;
}

async function documentsOf({ schema, loadDocuments }: RestorePlanParts): Promise<BranchDocuments | null> {
  const hasDocuments = schema.tables.some(({ history, merge }) => history !== undefined && merge.documents.length > 0);
  return hasDocuments ? loadDocuments() : null;
}

/** Throws for anything else, such as the promise of an async function, which must not count as `keep`. */
function toDecision(decision: 'restore' | 'keep'): 'branch' | 'origin' {
  if (decision === 'restore') return 'branch';
  if (decision === 'keep') return 'origin';
  throw new RockpoolError('config-invalid', {
    problem: 'conflicts: must be restore, keep or a function that returns one of them',
  });
}

const KINDS = {
  cell: 'cell',
  'deleted-in-branch': 'deleted-by-restore',
  'deleted-in-origin': 'deleted-since',
} as const;

function toRestoreConflict({ kind, table, key, column, base, ours, theirs }: BranchConflict): RestoreConflict {
  return { kind: KINDS[kind], table, key, column, written: base, restored: ours, current: theirs };
}

function toPreview({ rows, conflicts }: PlannedMerge): RestorePreview {
  return {
    rows: rows.map(({ table, key, theirs, merged }) => describeChange(table, key, theirs, merged)),
    conflicts: conflicts.map(toRestoreConflict),
  };
}
