import type { Document, Entry, KeyValue, Person } from './dataset.ts';

/** A subject answers at once or later: a loop that awaits what is already there would measure the await. */
export type MaybePromise<T> = T | Promise<T>;

export interface PersonRow {
  readonly id: number;
  readonly name: string;
  readonly city: string;
  readonly note: string;
  readonly points: number;
  readonly balance: number;
}

/**
 * What the workloads ask of one open database. Subjects that speak SQL share `sql-operations.ts`; the others do the
 * same work in their own best way.
 */
export interface Operations {
  /** Makes the tables that are missing. */
  createTables(): MaybePromise<void>;
  /** One row, in a transaction of its own, into a table that starts empty. */
  insertKeyValue(row: KeyValue): MaybePromise<void>;
  /** All rows in one transaction. The same holds of every method with a list. */
  insertKeyValues(rows: readonly KeyValue[]): MaybePromise<void>;
  insertDocuments(rows: readonly Document[]): MaybePromise<void>;
  insertBinaryDocuments(rows: readonly Document[]): MaybePromise<void>;
  insertPeople(rows: readonly Person[]): MaybePromise<void>;
  insertEntries(rows: readonly Entry[]): MaybePromise<void>;
  /** Makes the full-text index over the notes of the people. */
  indexNotes(): MaybePromise<void>;

  countKeyValues(): MaybePromise<number>;
  sumValues(): MaybePromise<number>;
  /** Takes out every row, key and value, and counts them. */
  readKeyValues(): MaybePromise<number>;
  readValue(key: string): MaybePromise<number>;
  /** Adds 1 to the value of each key, in one transaction. */
  incrementValues(keys: readonly string[]): MaybePromise<void>;
  /** Adds 1 to one value, in a transaction of its own. */
  incrementValue(key: string): MaybePromise<void>;

  /** People with an id below `count`, all six columns. */
  readPeople(count: number): MaybePromise<readonly PersonRow[]>;
  /** By a scan: notes that contain "gift with refund". */
  countNotesLike(): MaybePromise<number>;
  /** By the full-text index: notes with the words gift and refund. */
  countNotesMatching(): MaybePromise<number>;
  /** Entries of a range of days, counted and summed by month: how many months there are. */
  groupByMonth(from: string, to: string): MaybePromise<number>;
  /** Documents with status "open" and an amount above 500. */
  countOpenDocuments(): MaybePromise<number>;
  countOpenBinaryDocuments(): MaybePromise<number>;

  /**
   * For subjects with live queries: keeps each of them current until the returned function is called. `onChange` is
   * called with the number of a query after each change of its result, and once at the start.
   */
  watchKeyValues?(queries: readonly KeyValueRange[], onChange: (query: number) => void): Promise<() => void>;

  close(): MaybePromise<void>;
}

/** The first `limit` rows of the key-value table whose key is `fromKey` or above, in the order of their keys. */
export interface KeyValueRange {
  readonly fromKey: string;
  readonly limit: number;
}
