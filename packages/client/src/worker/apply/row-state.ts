import {
  addToCounter,
  cellValuesEqual,
  EXISTENCE_COLUMN_ID,
  RockpoolError,
  type CellValue,
  type ChangeKind,
} from '@rockpool/shared';
import type { DocumentColumns } from '../documents/column-value.ts';
import { documentSupport } from '../documents/load-document-support.ts';

/**
 * One row as one side sees it. `values` are the columns outside the key, by id, of documents their states; a row that
 * is not there has none.
 */
export interface RowState {
  readonly exists: boolean;
  readonly values: ReadonlyMap<number, CellValue>;
}

export const NO_ROW: RowState = { exists: false, values: new Map() };

/** What one pending changeset does to one row, with the old values that it replaced. */
export interface PendingRowChange {
  readonly sequence: number;
  /** The watermark that its author had seen. */
  readonly base: number;
  /** Older ones, of cells whose server value an earlier pending write hid from its author, by column id. */
  readonly cellBases: ReadonlyMap<number, number>;
  readonly kind: ChangeKind;
  /** Of counters an update holds what it adds, of documents what it edits; of new documents their content. */
  readonly values: ReadonlyMap<number, CellValue>;
  /** update: old values of the same columns; delete: the whole row; insert: none. */
  readonly before: ReadonlyMap<number, CellValue>;
}

/**
 * A server value that the visible row does not show, because a pending write covers it. EXISTENCE_COLUMN_ID holds 1n or
 * 0n: whether the row is there.
 */
export type HiddenValues = ReadonlyMap<number, CellValue>;

/** What a delivery says about one row. */
export interface DeliveredRow {
  readonly kind: ChangeKind;
  readonly values: ReadonlyMap<number, CellValue>;
}

/** The columns of the row's table that do not simply take the value that is written, by id. */
export interface ColumnRules extends DocumentColumns {
  readonly counters: ReadonlySet<number>;
}

/** What a changeset does to one row. */
export type RowEdit = Pick<PendingRowChange, 'kind' | 'values'>;

/**
 * Writes what a delivery says over a row: values as they are, counters too; news of a document go into it. An update of
 * a row that is not there does nothing. `atCursor`: the server's row before the delivery. News go into its document and
 * no other, not even one of the same id: where my own write put a document with the content of the first one in its
 * place, and lost, that one lacks the edits before.
 */
export function withDelivered(
  row: RowState,
  change: DeliveredRow,
  { documents, readBase }: ColumnRules,
  atCursor: RowState,
): RowState {
  return withEdit(row, change, (columnId, _before, value) => {
    if (!documents.has(columnId)) return value;
    return documentSupport().mergeDelivered(atCursor.values.get(columnId) ?? null, value, readBase);
  });
}

/**
 * Puts a change of my own on top of a row: counters add up, edits go into documents. An update of a row that is not
 * there does nothing. Throws `value-invalid` where a counter would leave 64 bits, and `document-gap` where an edit
 * builds on another one that is not in the document.
 */
export function withChange(row: RowState, change: RowEdit, columns: ColumnRules): RowState {
  return withEdit(row, change, (columnId, before, value) => {
    if (columns.counters.has(columnId)) return change.kind === 'insert' ? value : addToCounter(before, value);
    return withWrittenDocument(columns, columnId, before, value);
  });
}

function withWrittenDocument(
  { documents, readBase }: ColumnRules,
  columnId: number,
  before: CellValue,
  value: CellValue,
): CellValue {
  const rule = documents.get(columnId);
  if (rule === undefined) return value;
  const { expandContent, isDocumentEdit, mergeEdit } = documentSupport();
  return isDocumentEdit(value) ? mergeEdit(before, value, readBase) : expandContent(value, rule);
}

/**
 * The same for a change that the server has admitted. It fitted there, in whatever order; what it adds up to here on
 * the way does not matter, because a value that came out otherwise is delivered.
 */
export function withAdmitted(row: RowState, change: RowEdit, columns: ColumnRules): RowState {
  return withEdit(row, change, (columnId, before, value) => {
    if (!columns.counters.has(columnId)) return withAdmittedDocument(columns, columnId, before, value);
    if (change.kind === 'insert' || typeof before !== 'bigint' || typeof value !== 'bigint') return value;
    return BigInt.asIntN(64, before + value);
  });
}

function withAdmittedDocument(columns: ColumnRules, columnId: number, before: CellValue, value: CellValue): CellValue {
  return columns.documents.has(columnId) && documentSupport().isDocumentEdit(value)
    ? withEditUnlessGap(columns, before, value)
    : withWrittenDocument(columns, columnId, before, value);
}

/** What an edit builds on may be in the delivery that says that it was admitted: then so is the edit. */
function withEditUnlessGap({ readBase }: ColumnRules, before: CellValue, edit: CellValue): CellValue {
  try {
    return documentSupport().mergeEdit(before, edit, readBase);
  } catch (thrown) {
    if (thrown instanceof RockpoolError && thrown.code === 'document-gap') return before;
    throw thrown;
  }
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

/** The visible row: the server's, with the pending changes on top, in order. Throws like withChange. */
export function fold(base: RowState, pending: readonly RowEdit[], columns: ColumnRules): RowState {
  return foldRuns(base, pending, columns, withChange, (document, edits) =>
    documentSupport().mergeEdits(document, edits, columns.readBase),
  );
}

/** The server's row with admitted changes in it, in order. */
export function foldAdmitted(base: RowState, admitted: readonly RowEdit[], columns: ColumnRules): RowState {
  return foldRuns(base, admitted, columns, withAdmitted, (document, edits) => {
    try {
      return documentSupport().mergeEdits(document, edits, columns.readBase);
    } catch (thrown) {
      if (!(thrown instanceof RockpoolError) || thrown.code !== 'document-gap') throw thrown;
      return edits.reduce((before, edit) => withEditUnlessGap(columns, before, edit), document);
    }
  });
}

/**
 * Applies changes in order. Edits of a document that follow each other are merged together: one by one, each would cost
 * what the document and the edits before it weigh. `one` applies a change, `run` merges the edits of one document.
 */
function foldRuns(
  base: RowState,
  changes: readonly RowEdit[],
  columns: ColumnRules,
  one: (row: RowState, change: RowEdit, columns: ColumnRules) => RowState,
  run: (document: CellValue, edits: readonly CellValue[]) => CellValue,
): RowState {
  if (columns.documents.size === 0) return changes.reduce((row, change) => one(row, change, columns), base);
  const runs = new Map<number, CellValue[]>();
  const finish = (row: RowState): RowState => {
    if (runs.size === 0) return row;
    const values = new Map(row.values);
    for (const [columnId, edits] of runs) values.set(columnId, run(values.get(columnId) ?? null, edits));
    runs.clear();
    return { ...row, values };
  };
  let row = base;
  for (const change of changes) {
    const parts = withoutEdits(change, columns);
    if (parts === null) row = one(finish(row), change, columns);
    else if (row.exists) {
      for (const [columnId, edit] of parts.edits) {
        const edits = runs.get(columnId);
        if (edits === undefined) runs.set(columnId, [edit]);
        else edits.push(edit);
      }
      row = one(row, parts.rest, columns);
    }
  }
  return finish(row);
}

/**
 * The edits of documents in an update, and the rest of it. Null for a change that makes another document, or takes one
 * away.
 */
function withoutEdits(
  change: RowEdit,
  { documents }: ColumnRules,
): { readonly edits: ReadonlyMap<number, CellValue>; readonly rest: RowEdit } | null {
  if (change.kind !== 'update') return null;
  const edits = new Map<number, CellValue>();
  const rest = new Map<number, CellValue>();
  for (const [columnId, value] of change.values) {
    if (!documents.has(columnId)) rest.set(columnId, value);
    else if (documentSupport().isDocumentEdit(value)) edits.set(columnId, value);
    else return null;
  }
  return { edits, rest: { kind: 'update', values: rest } };
}

/**
 * The server's row under the visible one: hidden values where there are any, else what stood there before the first
 * pending change that touched it, else what is visible. Of a document that a pending change touches there is always a
 * hidden value: the old values of updates say what was changed in it, not what it was, and a row that was deleted may
 * be there again, with a document of mine.
 */
export function baseRow(
  visible: RowState,
  pending: readonly PendingRowChange[],
  hidden: HiddenValues,
  { documents }: ColumnRules,
): RowState {
  const first = pending[0];
  const hiddenExistence = hidden.get(EXISTENCE_COLUMN_ID);
  const exists =
    hiddenExistence === undefined
      ? first === undefined
        ? visible.exists
        : first.kind !== 'insert'
      : hiddenExistence === 1n;
  if (!exists) return NO_ROW;
  const values = new Map(visible.values);
  // Backwards, so that the oldest old value stays.
  for (const change of pending.toReversed()) {
    for (const [columnId, value] of change.before) {
      if (change.kind === 'update' && documents.has(columnId)) values.delete(columnId);
      else values.set(columnId, value);
    }
  }
  for (const [columnId, value] of hidden) if (columnId !== EXISTENCE_COLUMN_ID) values.set(columnId, value);
  return { exists: true, values };
}

/** The hidden values that must be kept so that baseRow finds `base` again under the changes that are still pending. */
export function hiddenValues(
  base: RowState,
  visible: RowState,
  pending: readonly PendingRowChange[],
  rules: ColumnRules,
): Map<number, CellValue> {
  const hidden = new Map<number, CellValue>();
  if (pending.length === 0) return hidden;
  const derived = baseRow(visible, pending, new Map(), rules);
  const hasDelete = pending.some(({ kind }) => kind === 'delete');
  if (derived.exists !== base.exists) hidden.set(EXISTENCE_COLUMN_ID, base.exists ? 1n : 0n);
  if (!base.exists) return hidden;
  for (const [columnId, value] of base.values) {
    const known =
      derived.exists && !(hasDelete && rules.documents.has(columnId)) ? derived.values.get(columnId) : undefined;
    if (known === undefined || !cellValuesEqual(known, value)) hidden.set(columnId, value);
  }
  return hidden;
}
