import type { CellValue } from '../change/cell-value.ts';
import type { ChangeKind } from '../change/changeset.ts';
import type { ColumnSchema, MergeRules, TableSchema } from '../schema/schema.ts';
import type { Cell, Conflict } from './row-model.ts';
import type { Version } from './version.ts';

/**
 * How concurrent writes of one column merge, and what follows from it for each write: what is checked and sent, what
 * the server stores, what a device shows while the write is pending, and how the write is undone.
 *
 * If a policy omits a part, that of `policies/last-writer.ts` applies: the value is sent as written, and the later
 * write replaces the earlier one. Each policy file says why it omits a part.
 *
 * Policies are pure and independent of rows. A document's policy needs its stored state and code that loads on demand,
 * so each side binds it to both (policies/document.ts).
 */
export interface ColumnPolicy {
  readonly name: 'last-writer' | 'counter' | 'group' | 'document';

  /** The ids of the columns that are written, win and lose together with this one, including this one. */
  readonly together?: readonly number[];
  /**
   * Whether a write adds to the current value. It then replaces no other write, and loses only if its row or document
   * is deleted or replaced.
   */
  readonly accumulates?: true;
  /** Whether an update carries a difference, so that equal values do not mean that both writes are kept. */
  readonly sendsDifference?: true;
  /**
   * Whether a device records the change itself as the old value of an update; such an old value cannot be written back.
   */
  readonly recordsChange?: true;
  /** The problem that is reported when a conflict of such a column cannot be restored. */
  readonly refusesRestore?: 'counter';

  /**
   * Checks the sent values of the column, on the device before COMMIT and on the server at admission. Throws the error
   * that rejects the transaction.
   */
  validate?(values: readonly CellValue[], place: ColumnPlace): void;
  /** On the device: the value that an update carries. Throws `value-invalid`. */
  capture?(before: CellValue, after: CellValue): CellValue;
  /** On the server: merges an update into an existing row. Returns null if last writer wins applies. */
  merge?(write: CellWrite): CellMerge | null;
  /** The entry of the conflict log for an update that lost with its row or to another row. Default: the value. */
  lost?(value: CellValue, standing: CellValue, site: string): LostValue;
  /** On the device: applies writes on top of the server's rows. */
  readonly rebase?: ColumnRebase;
  /** On the device: the value that reverts an update; undefined if another write has replaced the updated value. */
  undo?(current: CellValue, written: CellValue, before: CellValue): CellValue | undefined;
  /** Describes a rejected update in the form that the app receives. */
  describe?(before: CellValue, written: CellValue): DescribedValue;
}

/** The policy whose parts replace those that other policies omit. */
export type DefaultPolicy = ColumnPolicy & Required<Pick<ColumnPolicy, 'undo' | 'describe'>>;

/** The names of a table and a column, for an error. */
export interface ColumnPlace {
  readonly table: string;
  readonly column: string;
}

export interface CellWrite {
  readonly columnId: number;
  /** Undefined if the row has no cell of the column yet. */
  readonly before: Cell | undefined;
  readonly value: CellValue;
  readonly version: Version;
  /** Whether the author had seen everything in `before`. */
  readonly seen: boolean;
  /** Whether the author's copy has everything in `before`. False if `seen` is false. */
  readonly has: boolean;
  /** The row's insert, which is the winner if `before` is undefined. */
  readonly inserted: Version;
}

export interface CellMerge {
  /** The same object as `before` if the write does not change the cell. */
  readonly cell: Cell | undefined;
  readonly conflicts: readonly Conflict[];
  /** Whether the author's copy differs from the cell now. */
  readonly isCorrected: boolean;
}

/** `path`: the value belongs to this path of a document, or is the whole document (`[]`), which is no longer known. */
export interface LostValue {
  readonly value: CellValue;
  readonly path?: string;
}

/** How a device combines the pending, admitted and delivered writes of a column. */
export interface ColumnRebase {
  /** The cell with a pending write on top. Throws the error that masks the changeset. */
  pending(before: CellValue, value: CellValue, kind: ChangeKind): CellValue;
  /**
   * The cell with an admitted write in it. The write fitted on the server, so this never throws because of its value.
   */
  admitted(before: CellValue, value: CellValue, kind: ChangeKind): CellValue;
  /** The cell after a delivery; `atCursor` is the server's cell before it. Default: the delivered value. */
  delivered?(atCursor: CellValue, value: CellValue): CellValue;
  /**
   * Merges a run of edits at once. If merged one by one, each edit would cost as much as the cell and the edits before
   * it.
   */
  readonly edits?: {
    isEdit(value: CellValue): boolean;
    pending(cell: CellValue, edits: readonly CellValue[]): CellValue;
    admitted(cell: CellValue, edits: readonly CellValue[]): CellValue;
  };
}

/** `change` is the change itself, if no value after it is known. */
export type DescribedValue = { readonly after: CellValue } | { readonly change: CellValue };

/**
 * How a policy is declared: `MergeRules[key]` is a list of entries, each of one column or several. Separate from
 * ColumnPolicy, so that a page that checks a schema does not load the code that merges.
 */
export interface PolicyDeclaration<Entry = unknown> {
  readonly key: 'counters' | 'groups' | 'documents';
  columnsOf(entry: Entry): readonly string[];
  /** Returns what the schema's hash includes for the entry. It never changes for an entry that is declared already. */
  identityOf(entry: Entry): string;
  /** The rules of one column as JSON; part of the outline that is sent to other versions. */
  ruleOf(rules: MergeRules, column: string): unknown;
  /** Reads an entry of a schema file, trusting nothing. Throws `schema-invalid`. */
  read(value: unknown): Entry;
  /** Why the column cannot have this policy; null if it can. */
  columnProblem?(column: ColumnSchema): string | null;
  reportEntry?(entry: Entry, table: TableSchema, report: (column: string | null, problem: string) => void): void;
  /**
   * Why a column that has rows cannot take or lose this policy: pending changesets would have a different meaning. Null
   * if it can.
   */
  readonly changeProblem: string | null;
}

/** The policies of one table, resolved once. Last writer wins in a column that is not in `byColumn`. */
export interface TablePolicies {
  readonly byColumn: ReadonlyMap<number, ColumnPolicy>;
  /** The sets of columns that are written, win and lose together, without duplicates. */
  readonly together: readonly (readonly number[])[];
}

export function tablePolicies(policies: Iterable<readonly [columnId: number, ColumnPolicy]>): TablePolicies {
  const byColumn = new Map(policies);
  const together = new Set([...byColumn.values()].flatMap((policy) => (policy.together ? [policy.together] : [])));
  return { byColumn, together: [...together] };
}
