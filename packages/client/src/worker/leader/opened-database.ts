import type { Reads } from '../../rpc/reads.ts';

/** A database that this worker has open, as a writer or as a reader beside the writer. */
export interface OpenedDatabase<Database> {
  readonly database: Database;
  readonly reads: Reads;
  /**
   * Reads on another connection to the same data, which sees what is committed: for as long as a transaction is open on
   * the writer's. Absent for a reader, and where the storage has room for one connection only; then reading waits.
   */
  readonly readsBeside?: () => Promise<Reads>;
  /**
   * Resolves when the medium has every commit so far, and rejects when it refused one: that commit and all later ones
   * are undone then. To be called in the turn of the commit. Absent where a commit that has returned is kept.
   */
  readonly committed?: () => Promise<void>;
  /**
   * Resolves when every commit so far survives a power cut. Rejects with `storage-unflushed`: they stand, and may not
   * survive one. Absent where `committed` says as much, and where nobody asks for it.
   */
  readonly flushed?: () => Promise<void>;
  /**
   * Resolves when another tab may open it. `handsOver`: another tab waits for that, so what it can do as well is left
   * to it.
   */
  close(how: { readonly handsOver: boolean }): Promise<void>;
}
