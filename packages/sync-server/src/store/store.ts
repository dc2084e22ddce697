import type { DatabaseOutline } from './database-outline.ts';
import type { OpenDatabase } from './durability.ts';
import type { DamageProblem } from './file-damage.ts';

/** `schema-incompatible`: another instance has migrated the tables to a schema that this one cannot serve. */
export type Readiness = 'ready' | 'disk-full' | 'schema-incompatible' | 'unavailable';

/** Events of an open database. */
export interface StoreEvents {
  /**
   * Commits of other instances have been applied to the file, above the watermark `from`. `traceparent` is that of a
   * traced push among them.
   */
  readonly onCaughtUp: (from: number, traceparent?: string) => void;
  /** The file differs from the store and cannot catch up. The owner must close the database and open it again. */
  readonly onLost: (error: unknown) => void;
}

/** Stores the databases of a server. Every implementation passes store.contract.ts. */
export interface Store {
  /**
   * Opens a database, creating it if it is missing. The caller has validated the id. Throws `schema-incompatible`,
   * `database-damaged` or `database-unavailable`.
   */
  open(databaseId: string, events: StoreEvents): OpenDatabase | Promise<OpenDatabase>;
  /** The path of an open database's file on this machine. Other connections may read it while it is open. */
  pathOf(databaseId: string): string;
  /** Returns the ids of all databases, sorted. A store of files includes databases whose file is missing. */
  list(): Promise<string[]>;
  /** Reads facts about a database without opening it. */
  outline(databaseId: string): Promise<DatabaseOutline>;
  /**
   * Marks a database file as damaged: `open` throws `database-damaged` from now on, also after a restart. Does nothing
   * if the file is a working copy, which is rebuilt.
   */
  markDamaged(databaseId: string, problem: DamageProblem): void;
  /** Whether the store can commit now. */
  readiness(): Promise<Readiness>;
  close(): Promise<void>;
}
