import type { Document, Entry, KeyValue, Person } from './dataset.ts';

/** A subject returns its result or a promise of it. Awaiting a synchronous result in a loop would measure the await. */
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
 * The operations that workloads run on one open database. SQL subjects share `sql-operations.ts`; the others do the
 * same work in their own fastest way.
 */
export interface Operations {
  /** Creates the missing tables. */
  createTables(): MaybePromise<void>;
  /** Inserts one row in its own transaction into a table that starts empty. */
  insertKeyValue(row: KeyValue): MaybePromise<void>;
  /** Inserts all rows in one transaction, as does every method with a list. */
  insertKeyValues(rows: readonly KeyValue[]): MaybePromise<void>;
  insertDocuments(rows: readonly Document[]): MaybePromise<void>;
  insertBinaryDocuments(rows: readonly Document[]): MaybePromise<void>;
  insertPeople(rows: readonly Person[]): MaybePromise<void>;
  insertEntries(rows: readonly Entry[]): MaybePromise<void>;
  /** Creates the full-text index on the people's notes. */
  indexNotes(): MaybePromise<void>;

  countKeyValues(): MaybePromise<number>;
  sumValues(): MaybePromise<number>;
  /** Reads the key and value of every row, and counts the rows. */
  readKeyValues(): MaybePromise<number>;
  readValue(key: string): MaybePromise<number>;
  /** Adds 1 to the value of each key, in one transaction. */
  incrementValues(keys: readonly string[]): MaybePromise<void>;
  /** Adds 1 to one value in its own transaction. */
  incrementValue(key: string): MaybePromise<void>;

  /** Reads all six columns of the people with an id below `count`. */
  readPeople(count: number): MaybePromise<readonly PersonRow[]>;
  /** Counts the notes that contain "gift with refund", by a scan. */
  countNotesLike(): MaybePromise<number>;
  /** Counts the notes with the words gift and refund, by the full-text index. */
  countNotesMatching(): MaybePromise<number>;
  /** Counts and sums the entries of a range of days by month. Returns the number of months. */
  groupByMonth(from: string, to: string): MaybePromise<number>;
  countEntries(): MaybePromise<number>;
  /** Sums the amounts of the entries of a category. */
  sumOfCategory(category: number): MaybePromise<number>;
  /** Reads the ids of the entries with the largest amounts, the largest first. */
  largestEntries(count: number): MaybePromise<readonly number[]>;
  /** Sums the entries by the city of the person whose id is their account. Returns the number of cities. */
  sumByCity(): MaybePromise<number>;
  /** Counts the documents with status "open" and an amount above 500. */
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
