import {
  documentColumns,
  lastWriter,
  policyOf,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import type { RejectedChange, RejectedChangeset, RejectedValue } from '../../rpc/rejected-changeset.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Outbox } from './outbox.ts';
import type { RejectedTable } from './rejected-table.ts';

/**
 * The rejected changesets in the form that the app receives: with names of tables and columns, old values and new
 * values. Omits tables and columns that the schema no longer has.
 */
export function listRejected(
  rejected: RejectedTable,
  outbox: Outbox,
  tablesById: ReadonlyMap<number, TableSchema>,
): RejectedChangeset[] {
  const lastAckedSequence = outbox.lastAckedSequence();
  return rejected.list().map(({ changeset, error, rejectedMs }) => ({
    sequence: changeset.sequence,
    reason: error,
    writtenMs: changeset.writtenMs,
    rejectedMs,
    decided: changeset.sequence <= lastAckedSequence,
    atomic: changeset.atomic,
    changes: changeset.groups.flatMap((group, index) => {
      const table = tablesById.get(group.tableId);
      return table === undefined
        ? []
        : changesOf(table, group, changeset.before[index] ?? { columnIds: [], values: [] });
    }),
  }));
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
