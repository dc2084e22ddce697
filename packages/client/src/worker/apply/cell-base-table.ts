import { cellValuesEqual, encodeKey, EXISTENCE_COLUMN_ID, type CellValue } from '@rockpool/shared';
import { DOCUMENT_EDIT_BASE } from '../documents/document-author.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { RowRef } from './pending-index.ts';
import type { ColumnRules, PendingRowChange } from './row-state.ts';

/** A server value that a pending write covers. */
export interface CoveredCell {
  readonly value: CellValue;
  /** The cell base: the watermark up to which the author of the covering write had seen this cell. */
  readonly base: number;
}

/**
 * rockpool_base: the server values that pending writes cover, each with its cell base. A document is stored as its
 * state. Usually empty.
 */
export class CellBaseTable {
  private readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  isEmpty(): boolean {
    return this.connection.knownRow('rockpool_base', 'SELECT 1 FROM rockpool_base LIMIT 1') === undefined;
  }

  read({ tableId, key }: RowRef): Map<number, CoveredCell> {
    const statement = this.connection.prepare(
      'SELECT column_id, value, base FROM rockpool_base WHERE table_id = ? AND key = ?',
    );
    try {
      statement.bindCell(1, BigInt(tableId));
      statement.bindCell(2, encodeKey(key));
      const cells = new Map<number, CoveredCell>();
      while (statement.step())
        cells.set(Number(statement.readValue(0)), {
          value: statement.readCell(1),
          base: Number(statement.readValue(2)),
        });
      return cells;
    } finally {
      statement.release();
    }
  }

  /** Replaces the covered cells of one row. */
  write(
    row: RowRef,
    before: ReadonlyMap<number, CoveredCell>,
    covered: ReadonlyMap<number, CellValue>,
    pending: readonly PendingRowChange[],
    { policies }: ColumnRules,
  ): void {
    const key = encodeKey(row.key);
    if (before.size > 0)
      this.connection.run('DELETE FROM rockpool_base WHERE table_id = ? AND key = ?', row.tableId, key);
    if (covered.size === 0) return;
    const statement = this.connection.prepare(
      'INSERT INTO rockpool_base (table_id, key, column_id, value, base) VALUES (?, ?, ?, ?, ?)',
    );
    try {
      for (const [columnId, value] of covered) {
        const isEdit = policies.byColumn.get(columnId)?.rebase?.edits?.isEdit;
        const old = before.get(columnId);
        // A document may have been stored before a pending write covered it. While it is unchanged, the authors of all
        // pending writes have seen it.
        const isKnown = !isEdit || (old?.base === DOCUMENT_EDIT_BASE && cellValuesEqual(old.value, value));
        const base = (isKnown ? old?.base : null) ?? coveringBase(columnId, pending, isEdit);
        statement.runCells(BigInt(row.tableId), key, BigInt(columnId), value, BigInt(base));
      }
    } finally {
      statement.release();
    }
  }
}

/**
 * The cell base of the first pending change that covers this cell, as the server determines it. That change may itself
 * have a cell base below its base, because an earlier pending write covered the server value. Later writes on top have
 * not seen that value either. Edits of a document (`isEdit`) cover nothing: they merge into it.
 */
function coveringBase(
  columnId: number,
  pending: readonly PendingRowChange[],
  isEdit: ((value: CellValue) => boolean) | undefined,
): number {
  const covering =
    pending.find(
      ({ kind, values }) =>
        columnId === EXISTENCE_COLUMN_ID ||
        kind !== 'update' ||
        (values.has(columnId) && !isEdit?.(values.get(columnId) ?? null)),
    ) ?? (isEdit ? undefined : pending[0]);
  if (covering === undefined) return isEdit ? DOCUMENT_EDIT_BASE : 0;
  const { base, cellBases } = covering;
  return Math.min(base, cellBases.get(EXISTENCE_COLUMN_ID) ?? base, cellBases.get(columnId) ?? base);
}
