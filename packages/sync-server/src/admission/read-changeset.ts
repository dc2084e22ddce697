import {
  cellValueProblem,
  decodeChangesetBody,
  MAX_CHANGESET_BYTES,
  MAX_VALUE_BYTES,
  requireInDomain,
  RockpoolError,
  type CellValue,
  type ChangeGroup,
  type DocumentRule,
  type CellBase,
} from '@rockpool/shared';
import { decodeDocumentCell } from '@rockpool/shared/document';
import type { DocumentDesk } from '../documents/document-desk.ts';
import { GroupRow, type GroupColumns } from '../merge/group-row.ts';
import { rowName, type RowWrite } from '../merge/row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

/** A decoded changeset body. */
export interface ReadChangeset {
  /** Whether to reject the changeset if any of its writes loses. */
  readonly atomic: boolean;
  readonly writes: readonly RowWrite[];
}

/**
 * Decodes and checks the body of a changeset from an untrusted client. Throws a RockpoolError for a body that can never
 * be admitted; the changeset is rejected with that error.
 */
export function readChangeset(
  body: Uint8Array,
  { tableById, documents }: Pick<DatabaseFile, 'tableById' | 'documents'>,
): ReadChangeset {
  if (body.length > MAX_CHANGESET_BYTES)
    throw new RockpoolError('changeset-too-large', { sizeBytes: body.length, limitBytes: MAX_CHANGESET_BYTES });
  const { atomic, groups, cellBases } = decodeChangesetBody(body);
  const cellBasesByRow = indexCellBases(cellBases);
  const seen = new Set<string>();
  const writes: RowWrite[] = [];
  for (const group of groups) {
    const table = tableOf(group, tableById);
    requireInDomain(table.domain, group);
    const columns = readColumns(group, table);
    for (let row = 0; row < group.rowCount; row++) {
      const key = readKey(group, row, table);
      const name = rowName(group.tableId, key);
      if (seen.has(name))
        throw new RockpoolError('changeset-invalid', { problem: 'a row occurs twice', table: table.schema.name });
      seen.add(name);
      readRow(columns, row, documents);
      writes.push(new GroupRow(columns, row, name, cellBasesByRow.get(name) ?? NO_CELL_BASES));
    }
  }
  return { atomic, writes };
}

const NO_CELL_BASES: ReadonlyMap<number, number> = new Map();

function tableOf(group: ChangeGroup, tableById: ReadonlyMap<number, StoredTable>): StoredTable {
  const table = tableById.get(group.tableId);
  // Only the server writes Rockpool's own tables. If a client names them, they count as unknown.
  if (table === undefined || table.system) throw new RockpoolError('schema-unknown-table', { tableId: group.tableId });
  if (group.keys.length !== table.keys.length) {
    throw new RockpoolError('changeset-invalid', {
      problem: 'the key has the wrong number of parts',
      table: table.schema.name,
    });
  }
  for (const columnId of group.columnIds) {
    if (!table.valueById.has(columnId))
      throw new RockpoolError('schema-unknown-column', { table: table.schema.name, columnId });
  }
  if (group.kind === 'update' && table.rules.policies.together.some((columnIds) => isPartOf(group, columnIds))) {
    // Columns that win or lose together must arrive together; otherwise replicas would combine halves of two writes.
    throw new RockpoolError('changeset-invalid', {
      problem: 'the changeset writes only part of a column group',
      table: table.schema.name,
    });
  }
  return table;
}

function isPartOf(group: ChangeGroup, columnIds: readonly number[]): boolean {
  const present = columnIds.filter((columnId) => group.columnIds.includes(columnId));
  return present.length > 0 && present.length < columnIds.length;
}

function readKey(group: ChangeGroup, row: number, table: StoredTable): CellValue[] {
  return group.keys.map((part, k) => {
    const value = part[row] as CellValue;
    const column = table.keys[k] as StoredTable['keys'][number];
    checkValue(value, table, column.name);
    return value;
  });
}

function readColumns({ kind, keys, columnIds, values }: ChangeGroup, table: StoredTable): GroupColumns {
  return {
    table,
    kind,
    keys,
    indexOf: new Map(columnIds.map((columnId, c) => [columnId, c])),
    // Documents are replaced with their states.
    values: columnIds.map((columnId, c) => {
      const ofColumn = values[c] as CellValue[];
      return table.documents.has(columnId) ? [...ofColumn] : ofColumn;
    }),
  };
}

/** Checks the values of a row, and builds its documents. */
function readRow({ table, kind, indexOf, values }: GroupColumns, row: number, documents: DocumentDesk): void {
  for (const [columnId, c] of indexOf) {
    const ofColumn = values[c] as CellValue[];
    const value = ofColumn[row] as CellValue;
    const { name } = table.valueById.get(columnId) as StoredTable['keys'][number];
    checkValue(value, table, name);
    if (table.documents.has(columnId)) ofColumn[row] = readDocumentCell(value, table, columnId, kind, documents);
  }
}

/** Builds a new document from its content. A cell that is neither content nor an edit is forged. */
function readDocumentCell(
  value: CellValue,
  table: StoredTable,
  columnId: number,
  kind: ChangeGroup['kind'],
  documents: DocumentDesk,
): CellValue {
  const rule = table.documents.get(columnId) as DocumentRule;
  const cell = value === null ? null : decodeDocumentCell(value);
  if (cell === null || (cell.kind === 'edit' && kind === 'update')) return value;
  if (cell.kind !== 'content')
    throw new RockpoolError('document-invalid', { table: table.schema.name, problem: 'kind' });
  return documents.work({ kind: 'expand', content: value as Uint8Array, rule }).state;
}

function checkValue(value: CellValue, table: StoredTable, column: string): void {
  const problem = cellValueProblem(value) ?? (sizeOf(value) > MAX_VALUE_BYTES ? 'too-large' : null);
  if (problem !== null) throw new RockpoolError('value-invalid', { table: table.schema.name, column, problem });
}

function sizeOf(value: CellValue): number {
  if (value instanceof Uint8Array) return value.length;
  // Measures only text that could exceed the limit: UTF-8 takes at most 3 bytes per UTF-16 unit.
  if (typeof value !== 'string' || value.length * 3 <= MAX_VALUE_BYTES) return 0;
  return Buffer.byteLength(value);
}

function indexCellBases(cellBases: readonly CellBase[]): Map<string, Map<number, number>> {
  const byRow = new Map<string, Map<number, number>>();
  for (const { tableId, key, columnId, base } of cellBases) {
    const name = rowName(tableId, key);
    const bases = byRow.get(name) ?? new Map<number, number>();
    byRow.set(name, bases.set(columnId, base));
  }
  return byRow;
}
