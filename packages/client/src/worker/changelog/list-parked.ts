import { counterColumnIds, documentColumns, type BeforeGroup, type CellValue, type ChangeGroup, type TableSchema } from '@rockpool/shared';
import type { ParkedChange, ParkedChangeset, ParkedValue } from '../../rpc/parked-changeset.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Outbox } from './outbox.ts';
import type { Parked } from './parked.ts';

/** The parked changesets as the app sees them: by names, with old and new values. Tables and columns that the schema no longer has are left out. */
export function listParked(parked: Parked, outbox: Outbox, tablesById: ReadonlyMap<number, TableSchema>): ParkedChangeset[] {
  const decidedUpTo = outbox.decidedUpTo();
  return parked.list().map(({ changeset, error, parkedMs }) => ({
    sequence: changeset.sequence,
    reason: error,
    writtenMs: changeset.writtenMs,
    parkedMs,
    decided: changeset.sequence <= decidedUpTo,
    atomic: changeset.atomic,
    changes: changeset.groups.flatMap((group, index) => {
      const table = tablesById.get(group.tableId);
      return table === undefined ? [] : changesOf(table, group, changeset.before[index] ?? { columnIds: [], values: [] });
    }),
  }));
}

function changesOf(table: TableSchema, group: ChangeGroup, before: BeforeGroup): ParkedChange[] {
  const counters = counterColumnIds(table);
  const documents = documentColumns(table);
  const columnIds = group.kind === 'delete' ? before.columnIds : group.columnIds;
  return Array.from({ length: group.rowCount }, (_, row) => ({
    table: table.name,
    kind: group.kind,
    key: group.keys.map((part) => toValue(part[row] ?? null)),
    values: columnIds.flatMap((columnId, index): ParkedValue[] => {
      const column = table.columns.find(({ id }) => id === columnId)?.name;
      if (column === undefined) return [];
      const old = before.values[index]?.[row] ?? null;
      const toColumn = (cell: CellValue): SqlValue => (documents.has(columnId) ? documentValue(cell) : toValue(cell));
      if (group.kind === 'delete') return [{ column, before: toColumn(old) }];
      const written = group.values[index]?.[row] ?? null;
      if (documents.has(columnId) && documentSupport().isDocumentEdit(written)) return [{ column, change: String(old) }];
      if (group.kind === 'insert') return [{ column, after: toColumn(written) }];
      // An update of a counter says what it added.
      const after = counters.has(columnId) && typeof old === 'bigint' && typeof written === 'bigint' ? old + written : written;
      return [{ column, before: toColumn(old), after: toColumn(after) }];
    }),
  }));
}

/** The JSON of a document; a changeset holds it as its state, as what a new one contains, or as it stood there. */
function documentValue(cell: CellValue): SqlValue {
  if (!(cell instanceof Uint8Array)) return toValue(cell);
  const { decodeDocumentCell, documentText } = documentSupport();
  const decoded = decodeDocumentCell(cell);
  return decoded.kind === 'content' ? decoded.json : documentText(cell);
}

/** As queries give values: integers as numbers where they are exact. */
function toValue(cell: CellValue): SqlValue {
  return typeof cell === 'bigint' && cell >= BigInt(Number.MIN_SAFE_INTEGER) && cell <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(cell) : cell;
}
