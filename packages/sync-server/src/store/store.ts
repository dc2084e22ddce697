import type { OpenDatabase } from './durability.ts';
import type { DamageProblem } from './file-damage.ts';

export type Readiness = 'ready' | 'disk-full' | 'unavailable';

/** What a store tells of an open database. */
export interface StoreEvents {
  /** Others have committed, and the file has it now. */
  readonly onFollowed: () => void;
  /** The file is not what is stored, and cannot be brought there: it is to be closed, and opened again. */
  readonly onLost: (error: unknown) => void;
}

/** Where the databases of a server are. One contract holds for all of them: store.contract.ts. */
export interface Store {
  /**
   * Makes the database where it is missing. Throws `schema-incompatible`, `database-damaged` or `database-unavailable`.
   * The id is checked already.
   */
  open(databaseId: string, events: StoreEvents): OpenDatabase | Promise<OpenDatabase>;
  /** The file that stands for an open database on this machine; others may read it meanwhile. */
  pathOf(databaseId: string): string;
  /**
   * Notes that the file of a database is damaged: `open` throws `database-damaged` from now on, also after a restart.
   * Does nothing where the file is a working copy, which is made again.
   */
  markDamaged(databaseId: string, problem: DamageProblem): void;
  /** Whether it can commit now. */
  readiness(): Promise<Readiness>;
  close(): Promise<void>;
}
