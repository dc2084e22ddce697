import type { Reads } from '../../rpc/reads.ts';

/** A database that this worker has opened, as the writer or as a reader. */
export interface OpenedDatabase<Database> {
  readonly database: Database;
  readonly reads: Reads;
  /**
   * Reads committed data on a second connection while a transaction is open on the writer's. Absent for a reader, and
   * if the storage allows one connection only, so that reads wait.
   */
  readonly readsBeside?: () => Promise<Reads>;
  /**
   * Resolves when the medium has stored every commit so far. Rejects if it refused one: that commit and all later ones
   * are undone. Call it in the task of the commit. Absent if a returned commit is always stored.
   */
  readonly committed?: () => Promise<void>;
  /**
   * Resolves when every commit so far survives a power cut. Rejects with `storage-unflushed` if the commits are
   * complete but may not survive one. Absent if `committed` implies it or strict durability is not requested.
   */
  readonly flushed?: () => Promise<void>;
  /**
   * Resolves when another tab may open the database. `handsOver`: another tab is waiting, so this one skips work that
   * the other can do instead.
   */
  close(how: { readonly handsOver: boolean }): Promise<void>;
}

/**
 * The database closed during a read, because roles change or the page is suspended. The caller repeats the read on the
 * next readable source; the app never sees this error.
 */
export class ReadInterrupted extends Error {}
