import {
  bindMerge,
  RockpoolError,
  type AuthorKnows,
  type CellValue,
  type DocumentMerge,
  type DocumentRule,
  type MergedDocument,
  type OverwrittenPlace,
  type RowRules,
} from '@rockpool/shared';
import {
  canonicalJson,
  isDocumentEdit,
  isEditOf,
  type JsonValue,
  type OverwrittenMember,
} from '@rockpool/shared/document';
import { OperationAuthors, type WhichDocument } from './document-authors.ts';
import type { DocumentFile } from './document-file.ts';
import type { DocumentPlace } from './document-place.ts';
import { hasEditedAbove } from './document-edits.ts';
import { compactAbove, isSinceInsert, readReplaced } from './document-store.ts';
import { documentOfEdit } from './document-work.ts';
import { isOfEarlierForm } from './earlier-forms.ts';

/** The watermark that the author of a changeset has seen, and whether more changesets follow. */
export interface AuthorProgress {
  /** The watermark up to which the author had seen everything. */
  readonly base: number;
  /** Whether more changesets of the author follow in the same push. */
  readonly isFollowed: boolean;
  /** Whether the author's watermarks belong to an older log epoch. Default: false. */
  readonly isOfOlderEpoch?: boolean;
  /** Whether the author has re-created the changeset, for example after a rejection. Default: false. */
  readonly isRecreated?: boolean;
}

/**
 * While an author has edits under way that cannot know of a compaction and would have to be carried over, the document
 * is compacted only above this size, or this multiple of its compaction limit if that is larger. An author that never
 * catches up can therefore not prevent compaction.
 */
const BACKLOG_BYTES = 1024 * 1024;
const BACKLOG_GROWTH = 4;

/** The rules of one row. */
export function rulesOfRow(
  file: DocumentFile,
  { table, keyBytes }: Omit<DocumentPlace, 'columnId'>,
  author: AuthorProgress,
): RowRules {
  const { rules, documents } = table;
  if (documents.size === 0) return rules;
  const policies = bindMerge(rules.policies, (columnId) =>
    documentMerge(file, { table, keyBytes, columnId }, documents.get(columnId) as DocumentRule, author),
  );
  return { ...rules, policies };
}

/** Merges edits into the document; see document-work.ts. */
function documentMerge(
  file: DocumentFile,
  place: DocumentPlace,
  rule: DocumentRule,
  author: AuthorProgress,
): DocumentMerge {
  return {
    isEdit: isDocumentEdit,
    isEditOf: (document, edit) => document !== null && isEditOf(document, edit),
    merge(
      document: CellValue,
      edit: CellValue,
      site: string,
      knows: AuthorKnows,
      insertedAt?: number,
    ): MergedDocument | null {
      const of = document === null ? null : documentOfEdit(document, edit, () => readReplaced(file.sql, place));
      if (of === null) {
        // After a second try, its author's copy is wrong, and is corrected.
        const isRepeated = knows !== 'part' && author.isRecreated === true;
        // The author had this document, and an update of the app has changed its rule since one copy was built: nobody
        // else has written it, or nobody has replaced it since the insert of the row, which the author has seen.
        const isOfThis =
          knows === 'own' || (author.isRecreated !== true && isSinceInsert(file.sql, place, insertedAt ?? null));
        if (document !== null && !isRepeated && (isOfThis || isOfEarlier(file, place, edit)))
          throw new RockpoolError('document-gap');
        return null;
      }
      const { state, overwritten, overwrittenInReplaced } = file.documents.work({
        kind: 'merge',
        document: document as Uint8Array,
        replaced: of.replaced,
        edit: edit as Uint8Array,
        rule,
        site,
        compactAbove: compactNow(file, place, site, author),
      });
      const authors = new OperationAuthors(file, place);
      const places = [
        ...overwritten.map((member) => overwrittenPlace(authors, member, 'now')),
        ...overwrittenInReplaced.map((member) => overwrittenPlace(authors, member, 'replaced')),
      ];
      return { document: state, overwritten: places };
    },
  };
}

/** Whether the edit was made in the current document, which has been compacted more than once since. */
function isOfEarlier({ sql }: DocumentFile, place: DocumentPlace, edit: CellValue): boolean {
  // The document of a deleted row has no replaced form. Its edits are those of other columns: they may restore the row.
  return isOfEarlierForm(sql, place, edit) && readReplaced(sql, place) !== null;
}

/** The size of the state, in bytes, above which this edit compacts the document. */
function compactNow(
  file: DocumentFile,
  place: DocumentPlace,
  site: string,
  { base, isFollowed }: AuthorProgress,
): number {
  const limit = compactAbove(file.sql, place);
  const isBacklog = isFollowed || hasEditedAbove(file.sql, place, file.sites.numberOf(site), base);
  return isBacklog ? Math.max(BACKLOG_GROWTH * limit, BACKLOG_BYTES) : limit;
}

function overwrittenPlace(
  authors: OperationAuthors,
  { path, own, other, otherIds, ownStands }: OverwrittenMember,
  which: WhichDocument,
): OverwrittenPlace {
  return {
    path: JSON.stringify(path),
    own: textOf(own),
    other: textOf(other),
    otherVersion: authors.versionOf(which, otherIds),
    ownStands,
  };
}

function textOf(value: JsonValue | undefined): string | null {
  return value === undefined ? null : canonicalJson(value);
}
