import type { OpenDatabase } from './durability.ts';

/** What a store tells of an open database. */
export interface StoreEvents {
  /** Others have committed, and the file has it now. */
  readonly onFollowed: () => void;
  /** The file is not what is stored, and cannot be brought there: it is to be closed, and opened again. */
  readonly onLost: (error: unknown) => void;
}

/** Where the databases of a server are. One contract holds for all of them: store.contract.ts. */
export interface Store {
  /** Makes the database where it is missing. Throws `schema-incompatible` or `database-unavailable`. The id is checked already. */
  open(databaseId: string, events: StoreEvents): OpenDatabase | Promise<OpenDatabase>;
  /** The file that stands for an open database on this machine; others may read it meanwhile. */
  pathOf(databaseId: string): string;
  /** Whether it can commit now. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}
