import {
  documentColumns,
  lastWriter,
  policyOf,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import type {
  RejectedChange,
  RejectedChangeset,
  RejectedValue,
  WaitingChangeset,
} from '../../rpc/rejected-changeset.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { ChangesetSources, DecodedChangeset } from './decoded-changeset.ts';

/**
 * The rejected changesets in the form that the app receives: with names of tables and columns, old values and new
 * values. Omits tables and columns that the schema no longer has.
 */
export function listRejected(
  { rejected, outbox, meta }: ChangesetSources,
  tablesById: ReadonlyMap<number, TableSchema>,
): RejectedChangeset[] {
  const lastAckedSequence = outbox.lastAckedSequence();
  return rejected.list().map((stored) => ({
    sequence: stored.changeset.sequence,
    reason: stored.error,
    rejectedMs: stored.rejectedMs,
    decided: !rejected.isUndecided(stored, lastAckedSequence, meta),
    ...describe(stored.changeset, tablesById),
  }));
}

/** The first `limit` changesets of the outbox that are not withdrawn, in the same form, oldest first. */
export function listWaiting(
  { changelog, rejected, outbox }: ChangesetSources,
  tablesById: ReadonlyMap<number, TableSchema>,
  limit: number,
): WaitingChangeset[] {
  const waiting: WaitingChangeset[] = [];
  const after = outbox.lastAckedSequence();
  const withdrawn = rejected.withdrawnAfter(after);
  for (const changeset of changelog.readAfter(after)) {
    if (waiting.length >= limit) break;
    if (!withdrawn.has(changeset.sequence))
      waiting.push({ id: String(changeset.stampUs), ...describe(changeset, tablesById) });
  }
  return waiting;
}

function describe(
  { writtenMs, atomic, groups, before }: DecodedChangeset,
  tablesById: ReadonlyMap<number, TableSchema>,
): Omit<WaitingChangeset, 'id'> {
  return {
    writtenMs,
    atomic,
    changes: groups.flatMap((group, index) => {
      const table = tablesById.get(group.tableId);
      return table === undefined ? [] : changesOf(table, group, before[index] ?? { columnIds: [], values: [] });
    }),
  };
}

function changesOf(table: TableSchema, group: ChangeGroup, before: BeforeGroup): RejectedChange[] {
  const documents = documentColumns(table);
  const columnIds = group.kind === 'delete' ? before.columnIds : group.columnIds;
  return Array.from({ length: group.rowCount }, (_, row) => ({
    table: table.name,
    kind: group.kind,
    key: group.keys.map((part) => toValue(part[row] ?? null)),
    values: columnIds.flatMap((columnId, index): RejectedValue[] => {
      const column = table.columns.find(({ id }) => id === columnId)?.name;
      if (column === undefined) return [];
      const old = before.values[index]?.[row] ?? null;
      const toColumn = (cell: CellValue): SqlValue => (documents.has(columnId) ? documentValue(cell) : toValue(cell));
      if (group.kind === 'delete') return [{ column, before: toColumn(old) }];
      const written = group.values[index]?.[row] ?? null;
      if (group.kind === 'insert') return [{ column, after: toColumn(written) }];
      // New content of a document replaces the old value, like that of any other column.
      const isReplaced = documents.has(columnId) && !documentSupport().isDocumentEdit(written);
      const policy = isReplaced ? lastWriter : policyOf(table, columnId);
      const described = (policy.describe ?? lastWriter.describe)(old, written);
      return 'change' in described
        ? [{ column, change: String(described.change) }]
        : [{ column, before: toColumn(old), after: toColumn(described.after) }];
    }),
  }));
}

/** Returns the JSON of a document. A changeset contains documents as states, as new content or as JSON. */
function documentValue(cell: CellValue): SqlValue {
  if (!(cell instanceof Uint8Array)) return toValue(cell);
  const { decodeDocumentCell, documentText } = documentSupport();
  const decoded = decodeDocumentCell(cell);
  return decoded.kind === 'content' ? decoded.json : documentText(cell);
}

/** A value in the form that queries return: integers as numbers if exact, otherwise as bigint. */
function toValue(cell: CellValue): SqlValue {
  return typeof cell === 'bigint' && cell >= BigInt(Number.MIN_SAFE_INTEGER) && cell <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(cell)
    : cell;
}
