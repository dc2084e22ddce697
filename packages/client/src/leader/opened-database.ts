import type { Reads } from '../rpc/reads.ts';

/** A database that this worker has open, as a writer or as a reader beside the writer. */
export interface OpenedDatabase<Database> {
  readonly database: Database;
  readonly reads: Reads;
  /**
   * Resolves when the medium has every commit so far, and rejects when it refused one: that commit and all later ones are undone then. To be
   * called in the turn of the commit. Absent where a commit that has returned is kept.
   */
  readonly committed?: () => Promise<void>;
  /** Resolves when another tab may open it. */
  close(): Promise<void>;
}
