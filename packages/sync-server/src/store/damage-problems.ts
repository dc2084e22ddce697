import { existsSync } from 'node:fs';
import { damageBeforeOpening, type DamageProblem } from './file-damage.ts';
import { sumsPath } from '../sqlite/page-sums.ts';
import { readSqliteHeader } from '../sqlite/sqlite-header.ts';
import { verifyPages } from './verify-pages.ts';

const SENTENCES: Readonly<Record<DamageProblem, string>> = {
  missing: 'the file is missing; restore it from a backup, or delete the database',
  empty: 'the file is empty; restore it from a backup, or delete the database',
  truncated: 'the end of the file is missing; restore it from a backup',
  'not-sqlite': 'the file is not a SQLite file; restore it from a backup',
  'page-checksum':
    'the server took it offline because pages differ from their checksums; restore it from a backup, or accept it',
  'log-checksum':
    'the server took it offline because its write-ahead log is damaged; restore it from a backup, or accept it',
  'sqlite-corrupt': 'the server took it offline because SQLite found it damaged; restore it from a backup',
};

/** Returns the damage of a database file, one sentence each. Reads the whole file, even while a server writes to it. */
export async function damageProblems(path: string): Promise<string[]> {
  // First, because an earlier mark hides the loss of the file. A database that never existed has no checksum file.
  if (!existsSync(path)) return existsSync(sumsPath(path)) ? [SENTENCES.missing] : [];
  const problem = damageBeforeOpening(path) ?? (readSqliteHeader(path) === null ? 'not-sqlite' : null);
  const found = problem === null ? [] : [SENTENCES[problem]];
  if (problem === 'missing' || problem === 'empty' || problem === 'not-sqlite') return found;
  const { damaged } = await verifyPages(path);
  return damaged.length === 0
    ? found
    : [
        ...found,
        `${damaged.length} pages differ from their checksums (the first is page ${damaged[0]}): the disk has changed them, or another program has written to the file`,
      ];
}
