import {
  cellValuesEqual,
  EXISTENCE_COLUMN_ID,
  type CellValue,
  type ChangeKind,
  type ColumnRebase,
  type TablePolicies,
} from '@rockpool/shared';
import type { DocumentColumns } from '../documents/document-columns.ts';

/**
 * One row as the server has it or as the app sees it. `values` maps the ids of columns outside the key to values, and
 * of document columns to states. It is empty for a row that does not exist.
 */
export interface RowState {
  readonly exists: boolean;
  readonly values: ReadonlyMap<number, CellValue>;
}

export const NO_ROW: RowState = { exists: false, values: new Map() };

/** The change that one pending changeset makes to one row, with the old values that it replaced. */
export interface PendingRowChange {
  readonly sequence: number;
  /** The watermark that the author had seen. */
  readonly base: number;
  /** Cell bases, older than `base`, of cells whose server value an earlier pending write covered. By column id. */
  readonly cellBases: ReadonlyMap<number, number>;
  readonly kind: ChangeKind;
  /** New values, in the form that each column's policy captures. */
  readonly values: ReadonlyMap<number, CellValue>;
  /** For an update, old values of the same columns; for a delete, the whole row; for an insert, none. */
  readonly before: ReadonlyMap<number, CellValue>;
}

/**
 * Server values that the visible row does not show because pending writes cover them, by column id. EXISTENCE_COLUMN_ID
 * holds 1n if the row exists on the server, else 0n.
 */
export type CoveredValues = ReadonlyMap<number, CellValue>;

/** A delivered change of one row. */
export interface DeliveredChange {
  readonly kind: ChangeKind;
  readonly values: ReadonlyMap<number, CellValue>;
}

/** How the columns of a table merge. Document policies are bound to the table's states. */
export interface ColumnRules extends DocumentColumns {
  readonly policies: TablePolicies;
}

/** A change of one row without its history. */
export type RowEdit = Pick<PendingRowChange, 'kind' | 'values'>;

/**
 * Applies a delivered change to a row. Values replace the old ones, except document updates, which merge into the
 * document of `atCursor`, the server's row before the delivery. An update of a row that does not exist does nothing.
 *
 * Updates never merge into a different document, even one with the same id: if a local write replaced the document with
 * one of the same content, and lost, the replacement lacks the earlier edits.
 */
export function withDelivered(
  row: RowState,
  change: DeliveredChange,
  { policies }: ColumnRules,
  atCursor: RowState,
): RowState {
  return withEdit(row, change, (columnId, _before, value) => {
    const rebase = policies.byColumn.get(columnId)?.rebase;
    return rebase?.delivered === undefined ? value : rebase.delivered(atCursor.values.get(columnId) ?? null, value);
  });
}

/**
 * Applies a pending change on top of a row, by the policy of each column. An update of a row that does not exist does
 * nothing. Throws `value-invalid` or `document-gap` if the change does not fit the row; the changeset is then masked.
 */
export function withChange(row: RowState, change: RowEdit, columns: ColumnRules): RowState {
  return applyChange(row, change, columns, 'pending');
}

/**
 * Applies a change that the server has admitted. It was valid on the server, where changes may have been applied in a
 * different order. Intermediate values do not matter: if the merge produced a different value, the server delivers that
 * value.
 */
export function withAdmitted(row: RowState, change: RowEdit, columns: ColumnRules): RowState {
  return applyChange(row, change, columns, 'admitted');
}

type ChangeStatus = keyof ColumnRebase & ('pending' | 'admitted');

function applyChange(row: RowState, change: RowEdit, { policies }: ColumnRules, status: ChangeStatus): RowState {
  return withEdit(row, change, (columnId, before, value) => {
    const rebase = policies.byColumn.get(columnId)?.rebase;
    return rebase === undefined ? value : rebase[status](before, value, change.kind);
  });
}

function withEdit(
  row: RowState,
  { kind, values: written }: RowEdit,
  valueOf: (columnId: number, before: CellValue, value: CellValue) => CellValue,
): RowState {
  if (kind === 'delete') return NO_ROW;
  if (kind === 'update' && !row.exists) return row;
  const values = new Map(kind === 'insert' ? [] : row.values);
  for (const [columnId, value] of written) values.set(columnId, valueOf(columnId, values.get(columnId) ?? null, value));
  return { exists: true, values };
}

/** The visible row: the server's row with the pending changes on top, in order. Throws like withChange. */
export function fold(serverRow: RowState, pending: readonly RowEdit[], columns: ColumnRules): RowState {
  return foldRuns(serverRow, pending, columns, 'pending');
}

/** The server's row after admitted changes, in order. */
export function foldAdmitted(serverRow: RowState, admitted: readonly RowEdit[], columns: ColumnRules): RowState {
  return foldRuns(serverRow, admitted, columns, 'admitted');
}

/** Applies changes in order. Edits of one document that follow each other are merged together (ColumnRebase.edits). */
function foldRuns(
  serverRow: RowState,
  changes: readonly RowEdit[],
  columns: ColumnRules,
  status: ChangeStatus,
): RowState {
  if (columns.documents.size === 0)
    return changes.reduce((row, change) => applyChange(row, change, columns, status), serverRow);
  const { byColumn } = columns.policies;
  const runs = new Map<number, CellValue[]>();
  const finish = (row: RowState): RowState => {
    if (runs.size === 0) return row;
    const values = new Map(row.values);
    for (const [columnId, edits] of runs) {
      const merged = byColumn.get(columnId)?.rebase?.edits?.[status](values.get(columnId) ?? null, edits);
      if (merged !== undefined) values.set(columnId, merged);
    }
    runs.clear();
    return { ...row, values };
  };
  let row = serverRow;
  for (const change of changes) {
    const parts = splitEdits(change, columns);
    if (parts === null) row = applyChange(finish(row), change, columns, status);
    else if (row.exists) {
      for (const [columnId, edit] of parts.edits) {
        const edits = runs.get(columnId);
        if (edits === undefined) runs.set(columnId, [edit]);
        else edits.push(edit);
      }
      row = applyChange(row, parts.rest, columns, status);
    }
  }
  return finish(row);
}

/**
 * The edits in an update, and the rest of the update. Null for a change that replaces or removes a document, which ends
 * the run of edits.
 */
function splitEdits(
  change: RowEdit,
  { policies }: ColumnRules,
): { readonly edits: ReadonlyMap<number, CellValue>; readonly rest: RowEdit } | null {
  if (change.kind !== 'update') return null;
  const edits = new Map<number, CellValue>();
  const rest = new Map<number, CellValue>();
  for (const [columnId, value] of change.values) {
    const isEdit = policies.byColumn.get(columnId)?.rebase?.edits?.isEdit(value);
    if (isEdit === undefined) rest.set(columnId, value);
    else if (isEdit) edits.set(columnId, value);
    else return null;
  }
  return { edits, rest: { kind: 'update', values: rest } };
}

/**
 * The server's row under the visible row. Each column takes its covered value if there is one, else the value before
 * the first pending change that touched the column, else the visible value.
 *
 * A document that a pending change touches always has a covered value. The old value of an update records the change of
 * the document and not its state, and a deleted row may have been inserted again here with a different document.
 */
export function serverRowBeneath(
  visible: RowState,
  pending: readonly PendingRowChange[],
  covered: CoveredValues,
  { policies }: ColumnRules,
): RowState {
  const first = pending[0];
  const coveredExistence = covered.get(EXISTENCE_COLUMN_ID);
  const exists =
    coveredExistence === undefined
      ? first === undefined
        ? visible.exists
        : first.kind !== 'insert'
      : coveredExistence === 1n;
  if (!exists) return NO_ROW;
  const values = new Map(visible.values);
  // In reverse order, so that the oldest old value is kept.
  for (const change of pending.toReversed()) {
    for (const [columnId, value] of change.before) {
      if (change.kind === 'update' && policies.byColumn.get(columnId)?.recordsChange === true) values.delete(columnId);
      else values.set(columnId, value);
    }
  }
  for (const [columnId, value] of covered) if (columnId !== EXISTENCE_COLUMN_ID) values.set(columnId, value);
  return { exists: true, values };
}

/** The covered values to store, from which serverRowBeneath can reconstruct `serverRow` under the pending changes. */
export function coveredValues(
  serverRow: RowState,
  visible: RowState,
  pending: readonly PendingRowChange[],
  rules: ColumnRules,
): Map<number, CellValue> {
  const covered = new Map<number, CellValue>();
  if (pending.length === 0) return covered;
  const derived = serverRowBeneath(visible, pending, new Map(), rules);
  const hasDelete = pending.some(({ kind }) => kind === 'delete');
  if (derived.exists !== serverRow.exists) covered.set(EXISTENCE_COLUMN_ID, serverRow.exists ? 1n : 0n);
  if (!serverRow.exists) return covered;
  for (const [columnId, value] of serverRow.values) {
    const known =
      derived.exists && !(hasDelete && rules.policies.byColumn.get(columnId)?.recordsChange === true)
        ? derived.values.get(columnId)
        : undefined;
    if (known === undefined || !cellValuesEqual(known, value)) covered.set(columnId, value);
  }
  return covered;
}
