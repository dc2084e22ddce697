import type { MaybePromise, Operations, PersonRow } from './operations.ts';

export type SqlParameter = string | number;
export type SqlRow = Record<string, unknown>;

/** The interface of an adapter for an SQL database. Statements are prepared once if the subject's API allows it. */
export interface SqlDatabase {
  /** Runs one statement without parameters. */
  exec(sql: string): MaybePromise<void>;
  run(sql: string, parameters: readonly SqlParameter[]): MaybePromise<void>;
  /** Runs the same statement for each list of parameters, in one transaction. */
  runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): MaybePromise<void>;
  rows(sql: string, parameters?: readonly SqlParameter[]): MaybePromise<SqlRow[]>;
  close(): MaybePromise<void>;
}

/** The differences between SQL dialects. */
export interface Dialect {
  readonly binaryDocumentType: string;
  readonly insertBinaryDocument: string;
  readonly isOpenDocument: string;
  readonly isOpenBinaryDocument: string;
}

const IS_OPEN = `json_extract(json, '$.status') = 'open' AND json_extract(json, '$.amount') > 500`;

export const SQLITE: Dialect = {
  binaryDocumentType: 'BLOB',
  insertBinaryDocument: 'INSERT INTO binary_document VALUES (?, jsonb(?))',
  isOpenDocument: IS_OPEN,
  isOpenBinaryDocument: IS_OPEN,
};

/** Parameters: the least key, and the maximum number of rows. */
export const SELECT_RANGE = 'SELECT key, value FROM kv WHERE key >= ? ORDER BY key LIMIT ?';
export const SELECT_PEOPLE = 'SELECT id, name, city, note, points, balance FROM person WHERE id < ?';
const SUM_BY_CITY =
  'SELECT city, sum(amount) AS total FROM entry JOIN person ON person.id = entry.account GROUP BY city';
const GROUP_BY_MONTH =
  'SELECT substr(day, 1, 7) AS month, count(*) AS entries, sum(amount) AS total FROM entry WHERE day BETWEEN ? AND ? GROUP BY substr(day, 1, 7)';

export function sqlOperations(database: SqlDatabase, dialect: Dialect = SQLITE): Operations {
  const count = (sql: string, parameters?: readonly SqlParameter[]): MaybePromise<number> =>
    then(database.rows(sql, parameters), (rows) => Number(rows[0]?.['n']));

  return {
    async createTables() {
      // The first two tables are those of the articles on SQLite over IndexedDB: a random text key and a number.
      await database.exec('CREATE TABLE IF NOT EXISTS kv (key TEXT PRIMARY KEY, value DOUBLE PRECISION)');
      await database.exec('CREATE TABLE IF NOT EXISTS single (key TEXT PRIMARY KEY, value DOUBLE PRECISION)');
      await database.exec('CREATE TABLE IF NOT EXISTS document (id INTEGER PRIMARY KEY, json TEXT)');
      await database.exec(
        `CREATE TABLE IF NOT EXISTS binary_document (id INTEGER PRIMARY KEY, json ${dialect.binaryDocumentType})`,
      );
      await database.exec(
        'CREATE TABLE IF NOT EXISTS person (id INTEGER PRIMARY KEY, name TEXT, city TEXT, note TEXT, points INTEGER, balance DOUBLE PRECISION)',
      );
      await database.exec(
        'CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, day TEXT, account INTEGER, category INTEGER, amount DOUBLE PRECISION, memo TEXT)',
      );
    },
    insertKeyValue: (row) => database.run('INSERT INTO single VALUES (?, ?)', row),
    insertKeyValues: (rows) => database.runMany('INSERT INTO kv VALUES (?, ?)', rows),
    insertDocuments: (rows) => database.runMany('INSERT INTO document VALUES (?, ?)', rows),
    insertBinaryDocuments: (rows) => database.runMany(dialect.insertBinaryDocument, rows),
    insertPeople: (rows) => database.runMany('INSERT INTO person VALUES (?, ?, ?, ?, ?, ?)', rows),
    insertEntries: (rows) => database.runMany('INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)', rows),
    async indexNotes() {
      await database.exec(`CREATE VIRTUAL TABLE note_index USING fts5(note, content='person', content_rowid='id')`);
      await database.exec('INSERT INTO note_index (rowid, note) SELECT id, note FROM person');
    },

    countKeyValues: () => count('SELECT count(*) AS n FROM kv'),
    sumValues: () => count('SELECT sum(value) AS n FROM kv'),
    readKeyValues: () => then(database.rows('SELECT key, value FROM kv'), (rows) => rows.length),
    readValue: (key) =>
      then(database.rows('SELECT value FROM kv WHERE key = ?', [key]), (rows) => rows[0]?.['value'] as number),
    incrementValues: (keys) =>
      database.runMany(
        'UPDATE kv SET value = value + 1 WHERE key = ?',
        keys.map((key) => [key]),
      ),
    incrementValue: (key) => database.run('UPDATE kv SET value = value + 1 WHERE key = ?', [key]),

    readPeople: (limit) =>
      database.rows(SELECT_PEOPLE, [limit]) as MaybePromise<readonly unknown[]> as MaybePromise<readonly PersonRow[]>,
    countNotesLike: () => count(`SELECT count(*) AS n FROM person WHERE note LIKE '%gift with refund%'`),
    countNotesMatching: () => count(`SELECT count(*) AS n FROM note_index WHERE note_index MATCH 'gift AND refund'`),
    groupByMonth: (from, to) => then(database.rows(GROUP_BY_MONTH, [from, to]), (rows) => rows.length),
    countEntries: () => count('SELECT count(*) AS n FROM entry'),
    sumOfCategory: (category) =>
      then(database.rows('SELECT sum(amount) AS total FROM entry WHERE category = ?', [category]), ([row]) =>
        Number(row?.['total']),
      ),
    largestEntries: (limit) =>
      then(database.rows('SELECT id FROM entry ORDER BY amount DESC, id LIMIT ?', [limit]), (rows) =>
        rows.map(({ id }) => Number(id)),
      ),
    sumByCity: () => then(database.rows(SUM_BY_CITY, []), (rows) => rows.length),
    countOpenDocuments: () => count(`SELECT count(*) AS n FROM document WHERE ${dialect.isOpenDocument}`),
    countOpenBinaryDocuments: () =>
      count(`SELECT count(*) AS n FROM binary_document WHERE ${dialect.isOpenBinaryDocument}`),
    close: () => database.close(),
  };
}

function then<A, B>(value: MaybePromise<A>, next: (value: A) => B): MaybePromise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}
