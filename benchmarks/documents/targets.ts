import type { Target } from '../report/target.ts';
import { SIZES_KIB } from './dataset.ts';

/**
 * Reading a document means reading a text column. A written document is parsed, captured, and kept in the changelog
 * until the server has it.
 */
const AT_MOST: Readonly<Record<string, number>> = {
  dump: 1.2,
  extract: 1.2,
  'extract again': 1.2,
  filter: 1.2,
  order: 1.2,
  index: 1.2,
  'filter by the index': 1.5,
};

/**
 * Where the time goes, for lines that are known to miss their target because they are the first query after a write.
 */
const ACCOUNTS: Readonly<Record<string, string>> = {
  extract:
    "the first query after the copies are written: their changeset has pushed documents out of SQLite's cache, which are read again (513 pages of 8 KB, where plain JSON reads one); `extract again` is the same query without that",
};
const BINARY_ACCOUNTS: Readonly<Record<string, string>> = {
  extract:
    'the first query after the copies are written, by a worker that has just recorded their changeset; it reads no page again, and `extract again` is the same query',
};

/** Reading one value of a binary document costs about what it costs in a plain JSONB column. */
const BINARY_AT_MOST = 1.1;

/** Where the time of an edit goes, from a profile of fresh workers with code that is not compiled yet. */
const EDIT_ACCOUNT =
  'the fixed cost of a captured write, which is most of it for a small document: a third is what plain JSON does too, a third makes the edit (the difference, the Y.Doc, its state), a tenth is the changelog';

/** The cost of new data: every transaction is captured, checked and kept in the changelog in its wire form. */
const IMPORT_ACCOUNT =
  'work that plain JSON does not have: parsing the text and writing it in canonical form (a third, unless it is canonical), hashing the changeset (an eighth), and storing it in the changelog';
const BINARY_EDIT_ACCOUNT = 'as for text; and writing the old and the new document as text, in which edits are found';
const BINARY_IMPORT_ACCOUNT =
  'as for text; and making JSONB of the text that is written, and text of the JSONB that is sent';
const DISK_ACCOUNT = 'a new document is stored twice while the changelog keeps it: in its column, and as a request';

export const DOCUMENT_TARGETS: readonly Target[] = [
  ...Object.entries(AT_MOST).flatMap(([test, atMost]) =>
    SIZES_KIB.map((sizeKiB) => withAccount(target(test, sizeKiB, atMost), ACCOUNTS[test])),
  ),
  ...SIZES_KIB.map((sizeKiB): Target => ({ ...target('small edit', sizeKiB, 2), account: EDIT_ACCOUNT })),
  ...SIZES_KIB.flatMap((sizeKiB) => [
    ...['extract', 'extract again', 'filter', 'order'].map((test) =>
      withAccount({ ...binary(test, sizeKiB, BINARY_AT_MOST), of: 'jsonb' }, BINARY_ACCOUNTS[test]),
    ),
    { ...binary('small edit', sizeKiB, 2), account: BINARY_EDIT_ACCOUNT },
    { ...binary('import', sizeKiB, 2), account: BINARY_IMPORT_ACCOUNT },
  ]),
  ...SIZES_KIB.flatMap((sizeKiB) =>
    ['bytes sent of a small edit', 'bytes logged of a small edit'].map((test): Target => ({
      ...target(test, sizeKiB, 512),
      of: 'absolute',
    })),
  ),
  ...SIZES_KIB.flatMap((sizeKiB) =>
    ['import', 'copy with a small change'].map((test): Target => ({
      ...target(test, sizeKiB, test === 'import' ? 2 : 3),
      account: IMPORT_ACCOUNT,
    })),
  ),
  ...SIZES_KIB.map((sizeKiB): Target => ({ ...target('disk space', sizeKiB, 2), account: DISK_ACCOUNT })),
];

function withAccount(of: Target, account: string | undefined): Target {
  return account === undefined ? of : { ...of, account };
}

function binary(test: string, sizeKiB: number, atMost: number): Target {
  return { ...target(test, sizeKiB, atMost), variant: 'binary' };
}

function target(test: string, sizeKiB: number, atMost: number): Target {
  return {
    workload: `${sizeKiB}K-${test}`,
    title: `${test}, 4 MB in documents of ${sizeKiB} KB`,
    variant: '',
    atMost,
    of: 'json',
  };
}
