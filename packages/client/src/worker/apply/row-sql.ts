import { keyColumns, keyMatchSql, quoteName, valueColumns, type TableSchema } from '@rockpool/shared';

/**
 * The SQL that reads and writes rows of one table by key. Each text is built once, because building it would slow down
 * a short delivery.
 */
export class RowSql {
  /** Ids of the columns outside the key, in the order of `read`. */
  readonly valueIds: readonly number[];
  /**
   * Whether SQLite may consider two different keys equal: a column without affinity stores both `1` and `1.0`, which
   * compare as equal.
   */
  readonly hasLooseKey: boolean;
  /** SELECT of the columns of `valueIds`, or of 1 if there are none. Parameters: the key. */
  readonly read: string;
  /** DELETE. Parameters: the key. */
  readonly remove: string;
  private readonly table: TableSchema;
  private readonly from: string;
  private readonly keyNames: readonly string[];
  private readonly nameOfId: ReadonlyMap<number, string>;
  private readonly puts: Map<string, string> = new Map();
  private readonly patches: Map<string, string> = new Map();

  constructor(table: TableSchema) {
    const columns = valueColumns(table);
    const keys = keyColumns(table);
    this.table = table;
    this.from = quoteName(table.name);
    this.valueIds = columns.map(({ id }) => id);
    this.nameOfId = new Map(columns.map(({ id, name }) => [id, quoteName(name)]));
    this.keyNames = keys.map(({ name }) => quoteName(name));
    this.hasLooseKey = keys.some(({ type }) => type === 'blob');
    const read = columns.length === 0 ? '1' : [...this.nameOfId.values()].join(', ');
    this.read = `SELECT ${read} FROM ${this.from} WHERE ${keyMatchSql(table)}`;
    this.remove = `DELETE FROM ${this.from} WHERE ${keyMatchSql(table)}`;
  }

  hasColumn(columnId: number): boolean {
    return this.nameOfId.has(columnId);
  }

  /** SELECT of one column. Parameters: the key. */
  readColumn(columnId: number): string {
    return `SELECT ${this.nameOf(columnId)} FROM ${this.from} WHERE ${keyMatchSql(this.table)}`;
  }

  /** INSERT, or UPDATE of an existing row. Parameters: the key, then the columns. */
  put(columnIds: readonly number[]): string {
    return once(this.puts, columnIds, () => this.makePut(columnIds.map((id) => this.nameOf(id))));
  }

  /** UPDATE. Parameters: the columns, then the key. */
  patch(columnIds: readonly number[]): string {
    return once(this.patches, columnIds, () => {
      const assignments = columnIds.map((id) => `${this.nameOf(id)} = ?`).join(', ');
      return `UPDATE ${this.from} SET ${assignments} WHERE ${keyMatchSql(this.table, { first: columnIds.length + 1 })}`;
    });
  }

  private makePut(columns: readonly string[]): string {
    const all = [...this.keyNames, ...columns];
    const where = this.hasLooseKey
      ? ` WHERE ${this.keyNames.map((name) => `typeof(${this.from}.${name}) = typeof(excluded.${name})`).join(' AND ')}`
      : '';
    const assigned = columns.length === 0 && this.hasLooseKey ? this.keyNames.slice(0, 1) : columns;
    const onConflict =
      assigned.length === 0
        ? 'DO NOTHING'
        : `DO UPDATE SET ${assigned.map((name) => `${name} = excluded.${name}`).join(', ')}${where}`;
    const places = all.map(() => '?').join(', ');
    return `INSERT INTO ${this.from} (${all.join(', ')}) VALUES (${places}) ON CONFLICT (${this.keyNames.join(', ')}) ${onConflict}`;
  }

  private nameOf(columnId: number): string {
    const name = this.nameOfId.get(columnId);
    if (name === undefined) throw new Error(`${this.table.name} has no column ${columnId}`);
    return name;
  }
}

/** Maximum number of column sets whose SQL is kept per table. An app may write any set of columns. */
const MOST_TEXTS = 100;

function once(texts: Map<string, string>, columnIds: readonly number[], make: () => string): string {
  const key = columnIds.join();
  let text = texts.get(key);
  if (text === undefined) {
    text = make();
    if (texts.size >= MOST_TEXTS) texts.clear();
    texts.set(key, text);
  }
  return text;
}

const known: WeakMap<TableSchema, RowSql> = new WeakMap();

export function rowSqlOf(table: TableSchema): RowSql {
  let sql = known.get(table);
  if (sql === undefined) {
    sql = new RowSql(table);
    known.set(table, sql);
  }
  return sql;
}
