import type { DatabaseFile } from './database-file.ts';

/**
 * Where what is decided on a database's file becomes durable: in the file itself, or in a store that other instances share (postgres/). The file decides in
 * both cases, and nobody is told of anything before `commit` is done.
 */
export interface Durability {
  /** What `body` writes into the file lasts when this returns, or resolves. When it throws, or rejects, nothing of it has happened here; all of it may be done again. */
  commit<Result>(body: () => Result): Result | Promise<Result>;
  /** Brings the file up to what others have committed. Null: there are no others. */
  catchUp(): Promise<void> | null;
  close(): void;
}

export interface OpenDatabase extends Durability {
  readonly file: DatabaseFile;
}

/** The file is what lasts. */
export function durableInFile(file: DatabaseFile): OpenDatabase {
  return {
    file,
    commit: (body) => {
      try {
        return file.sql.transaction(body);
      } catch (error) {
        reloadFile(file);
        throw error;
      }
    },
    catchUp: () => null,
    close: () => file.sql.close(),
  };
}

/** What is kept in memory of a file, read anew: after a transaction that did not commit, or one that was not made by admission. */
export function reloadFile({ epoch, log, sites, tombstones }: DatabaseFile): void {
  for (const part of [epoch, log, sites, tombstones]) part.reload();
}
