import type { Operations } from '../operations.ts';

/** Plain data, because it is sent to the page and its worker. */
export type Settings = Readonly<Record<string, string | number | boolean>>;

export type Role = 'writer' | 'reader';

/** Opens the databases of a subject. Each adapter has its own file. */
export interface Adapter {
  /** `role` is the tab's task; most subjects ignore it. */
  open(database: string, settings: Settings, role: Role): Promise<OpenedDatabase>;
}

export interface OpenedDatabase {
  readonly operations: Operations;
  /**
   * For a subject with a faster transfer to the page than a structured clone of its rows; `unpack-people.ts` decodes it
   * there.
   */
  packPeople?(count: number): PackedPeople;
}

export interface PackedPeople {
  readonly packed: unknown;
  readonly transfer: Transferable[];
}
