import type { CellValue } from '../../change/cell-value.ts';
import { MAX_DOCUMENT_DEPTH, MAX_DOCUMENT_LENGTH, pathSteps, RICH_TEXT_DEPTH } from '../../document/document-rule.ts';
import type { DocumentRule, DocumentStorage } from '../../document/document-rule.ts';
import { RockpoolError } from '../../errors/rockpool-error.ts';
import { object, oneOf, text, texts, wholeNumber } from '../../schema/read-json.ts';
import type { DocumentColumn, TableSchema } from '../../schema/schema.ts';
import { accumulated } from '../cell.ts';
import type { ColumnPolicy, PolicyDeclaration, TablePolicies } from '../column-policy.ts';
import type { Conflict } from '../row-model.ts';
import { isOwn, type Version } from '../version.ts';

/** `documents`: TEXT columns with JSON whose parts are merged. */
export const documentDeclaration: PolicyDeclaration<DocumentColumn> = {
  key: 'documents',
  columnsOf: ({ column }) => [column],
  // Only rules with rich texts include them, so that the hashes of older schemas do not change.
  identityOf: ({ column, text: paths, richText = [], elementKey, maxLength, maxDepth }) =>
    JSON.stringify([
      column,
      [...paths].sort(),
      elementKey,
      maxLength,
      maxDepth,
      ...(richText.length === 0 ? [] : [[...richText].sort()]),
    ]),
  ruleOf: ({ documents }, column) => documents.filter((rule) => rule.column === column).map(withoutStorage),
  read(value) {
    const rule = object(value, 'document');
    return {
      column: text(rule['column'], 'document column'),
      text: texts(rule['text'], 'document text paths'),
      ...(rule['richText'] === undefined ? {} : { richText: texts(rule['richText'], 'document rich text paths') }),
      elementKey: text(rule['elementKey'], 'document element key'),
      maxLength: wholeNumber(rule['maxLength'], 'document length'),
      maxDepth: wholeNumber(rule['maxDepth'], 'document depth'),
      ...(rule['storage'] === undefined
        ? {}
        : { storage: oneOf(rule['storage'], ['text', 'binary'], 'document storage') as DocumentStorage }),
    };
  },
  reportEntry({ column: name, text: paths, richText = [], elementKey, maxLength, maxDepth }, table, report) {
    const column = table.columns.find((candidate) => candidate.name === name);
    if (column !== undefined && column.type !== 'text')
      report(name, 'A document column must be TEXT, because it contains JSON.');
    if (elementKey === '' || [...paths, ...richText].some((path) => pathSteps(path).includes('')))
      report(name, 'The element key and every part of a path must not be empty.');
    if (richText.some((path) => paths.includes(path)))
      report(name, 'A path of a document cannot be both a plain text and a rich text.');
    if (richText.some((path) => pathSteps(path).length + RICH_TEXT_DEPTH > maxDepth))
      report(name, `A rich text needs ${RICH_TEXT_DEPTH} levels below its path; raise maxDepth.`);
    if (!(maxLength > 0 && maxLength <= MAX_DOCUMENT_LENGTH))
      report(name, `maxLength of a document must be 1 to ${MAX_DOCUMENT_LENGTH} characters.`);
    if (!(maxDepth > 0 && maxDepth <= MAX_DOCUMENT_DEPTH))
      report(name, `maxDepth of a document must be 1 to ${MAX_DOCUMENT_DEPTH} levels.`);
    if (table.uniques.some((columns) => columns.includes(name)))
      report(name, 'A document cannot be UNIQUE: merging can produce values that nobody chose.');
  },
  changeProblem: 'the merge rule of the document changed',
};

/** The rule, the same on all devices and on the server. */
function withoutStorage({ storage: _storage, ...rule }: DocumentColumn): DocumentColumn {
  return rule;
}

/** The rules of the document columns, by column id. */
export function documentColumns(table: TableSchema): ReadonlyMap<number, DocumentRule> {
  return new Map(
    table.merge.documents.flatMap((rule) =>
      table.columns.filter(({ name }) => name === rule.column).map(({ id }) => [id, rule] as const),
    ),
  );
}

/** What the author of an edit knows of the document: not all of it, all, or all because nobody else has written it. */
export type AuthorKnows = 'part' | 'all' | 'own';

/** How the server merges edits into the document of one cell (document/document.ts). */
export interface DocumentMerge {
  /** False if the value is a whole document or NULL, and replaces the cell like any other value. */
  readonly isEdit: (value: CellValue) => boolean;
  /** Whether the author of the edit has this document, apart from edits by others. */
  readonly isEditOf: (document: CellValue, edit: CellValue) => boolean;
  /**
   * The document with the edit in it; null when the edit belongs to a document that has been replaced. Throws the error
   * that rejects the changeset. `insertedAt` is the watermark of the row's insert, which the author has seen.
   */
  readonly merge: (
    document: CellValue,
    edit: CellValue,
    site: string,
    knows: AuthorKnows,
    insertedAt?: number,
  ) => MergedDocument | null;
}

export interface MergedDocument {
  readonly document: CellValue;
  /** Places that two authors wrote to without having seen each other's writes. */
  readonly overwritten: readonly OverwrittenPlace[];
}

/** Values are JSON texts; null if the place no longer exists. */
export interface OverwrittenPlace {
  /** JSON array of the steps from the document down. */
  readonly path: string;
  readonly own: CellValue;
  readonly other: CellValue;
  readonly otherVersion: Version;
  readonly ownStands: boolean;
}

/**
 * JSON whose parts are merged. An update carries an edit, which is merged into the document; NULL and new content
 * replace the cell, by last writer.
 *
 * - `validate`: the column's type does not describe the sent values; edits are checked where they are decoded.
 * - `capture`: an edit is the difference to the stored state and changes that state, so it needs the device's tables
 *   (client/src/worker/documents/capture-documents.ts) and cannot be a pure function of two values.
 * - `merge` and `rebase` need the state, and code that loads on demand: see `bindMerge`, and
 *   client/src/worker/documents/document-rebase.ts.
 * - `undo` needs code that loads on demand: see client/src/worker/documents/undo-documents.ts.
 * - `describe`: an edit has no value of its own; the change of the JSON was recorded as the old value.
 */
export const document: ColumnPolicy = {
  name: 'document',
  accumulates: true,
  recordsChange: true,
  validate() {},
  merge: notBound,
  rebase: { pending: notBound, admitted: notBound },
  lost: notBound,
  describe: (before) => ({ change: before }),
};

/** The policies of a table on the server, with those of its documents bound to the merge of one row's documents. */
export function bindMerge(policies: TablePolicies, mergeOf: (columnId: number) => DocumentMerge): TablePolicies {
  const byColumn = new Map(policies.byColumn);
  for (const [columnId, { name }] of byColumn)
    if (name === document.name) byColumn.set(columnId, withMerge(mergeOf(columnId)));
  return { ...policies, byColumn };
}

function withMerge(work: DocumentMerge): ColumnPolicy {
  return {
    ...document,
    merge({ columnId, before, value, version, seen, has, inserted }) {
      if (!work.isEdit(value)) return null;
      const isOwnCell = before !== undefined && isOwn(version, before.version) && before.otherSite === undefined;
      const knows = !seen ? 'part' : isOwnCell ? 'own' : 'all';
      const merged = work.merge(before?.value ?? null, value, version.site, knows, inserted.watermark);
      if (merged === null) {
        const won = before ?? { value: null, version: inserted };
        return {
          cell: before,
          conflicts: [{ columnId, rule: 'lww', ...UNKNOWN_EDIT_PATH, lost: { value: null, version }, won }],
          isCorrected: true,
        };
      }
      return {
        cell: accumulated(before, merged.document, version),
        conflicts: merged.overwritten.map((place) => placeConflict(columnId, place, version)),
        isCorrected: !has || !work.isEditOf(merged.document, value),
      };
    },
    lost(value, standing, site) {
      if (!work.isEdit(value)) return { value };
      const image = editedImage(work, standing, value, site);
      return image === null ? { value: null, ...UNKNOWN_EDIT_PATH } : { value: image };
    },
  };
}

/**
 * The path of an edit whose document no longer exists: its result is unknown. The edit is not a write of NULL, so its
 * conflict names the whole document.
 */
const UNKNOWN_EDIT_PATH = { path: '[]' } as const;

function placeConflict(
  columnId: number,
  { path, own, other, otherVersion, ownStands }: OverwrittenPlace,
  version: Version,
): Conflict {
  const [mine, theirs] = [
    { value: own, version },
    { value: other, version: otherVersion },
  ];
  return { columnId, path, rule: 'lww', lost: ownStands ? theirs : mine, won: ownStands ? mine : theirs };
}

/** The document that a lost edit would have produced; null if that is no longer known. */
function editedImage(work: DocumentMerge, image: CellValue, edit: CellValue, site: string): CellValue {
  try {
    return work.merge(image, edit, site, 'part')?.document ?? null;
  } catch (error) {
    if (error instanceof RockpoolError) return null;
    throw error;
  }
}

function notBound(): never {
  throw new RockpoolError('internal', { problem: 'the policy of a document is not bound to its storage' });
}
