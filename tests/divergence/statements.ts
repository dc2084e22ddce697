import { testTable } from '#client/testing/worker/table-schema.ts';
import { buildSchema, DEFAULT_TOKENIZE, type Schema } from '#shared/index.ts';

/*
 * A grammar of SQL that tries to make replicas diverge: every form of DDL, every schema name, every kind of trigger,
 * keys and values of the wrong type, collations, generated columns, REPLACE, upserts, key changes. Most statements are
 * refused; the others must have the same result everywhere.
 */

export const divergenceSchema: Schema = buildSchema([
  testTable(
    'thing',
    {
      id: 'text not null',
      name: 'text',
      whole: 'integer',
      fraction: 'real',
      price: 'numeric',
      bytes: 'blob',
      hits: 'integer not null default 0',
      twice: 'integer as whole*2 stored',
    },
    {
      uniques: [['name']],
      checks: [{ name: 'small', sql: 'whole < 1000000' }],
      indexes: [{ name: 'thing_whole', unique: true, expressions: ['"whole"', '"price"'], whereSql: '"whole" > 3' }],
      merge: { deleteRule: 'update-wins', counters: ['hits'], groups: [['fraction', 'price']], documents: [] },
      searchIndexes: [{ name: 'thing_search', columns: ['name'], tokenize: DEFAULT_TOKENIZE }],
    },
  ),
  testTable(
    'place',
    { list: 'text not null', number: 'integer not null', thing_id: 'text', note: "text default 'none'" },
    {
      primaryKey: ['list', 'number'],
      foreignKeys: [
        {
          columns: ['thing_id'],
          foreignTable: 'thing',
          foreignColumns: ['id'],
          onDelete: 'cascade',
          onUpdate: 'cascade',
        },
      ],
    },
  ),
  testTable(
    'mark',
    { id: 'blob not null', list: 'text', number: 'integer' },
    {
      foreignKeys: [
        {
          columns: ['list', 'number'],
          foreignTable: 'place',
          foreignColumns: ['list', 'number'],
          onDelete: 'set null',
          onUpdate: 'no action',
        },
      ],
    },
  ),
  testTable('draft', { id: 'integer', text: 'text' }, { synced: false }),
]);

export const SYNCED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  thing: ['id', 'name', 'whole', 'fraction', 'price', 'bytes', 'hits', 'twice'],
  place: ['list', 'number', 'thing_id', 'note'],
  mark: ['id', 'list', 'number'],
};

/** A small generator of numbers from 0 to 1, so that a seed reproduces a run. */
export function randomFrom(seed: number): () => number {
  let state = (seed * 2_654_435_761) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

const SYNCED = ['thing', 'place', 'mark'];
const INTERNAL = [
  'rockpool_changelog',
  'rockpool_meta',
  'rockpool_base',
  'rockpool_parked',
  'rockpool_conflict',
  'rockpool_request',
  'rockpool_search_0',
];
const ODD_TABLES = [
  'draft',
  'thing_search',
  'thing_search_data',
  'scratch',
  'seen',
  'sqlite_schema',
  'sqlite_temp_schema',
  'sqlite_sequence',
  'nothing',
  ...INTERNAL,
];
const SCHEMAS = ['', '', '', '', '', '', 'main.', 'main.', 'temp.', '"temp".', 'TEMP.', 'other.'];
const KEYS: Readonly<Record<string, readonly string[]>> = { thing: ['id'], place: ['list', 'number'], mark: ['id'] };
/** Bodies of triggers. */
const VALID_BODIES = [
  "UPDATE thing SET name = name || 'x' WHERE id = 'k1'",
  "UPDATE thing SET hits = hits + 1 WHERE id = 'k2'",
  "INSERT OR REPLACE INTO thing (id, name) VALUES ('k3', 'by a trigger')",
  "INSERT OR REPLACE INTO mark (id) VALUES (x'31')",
  'DELETE FROM place WHERE number = 1',
  "UPDATE OR REPLACE place SET list = 'k4' WHERE number = 2",
  "INSERT INTO draft (text) VALUES ('by a trigger')",
];
const TEXTS = [
  "''",
  "'a'",
  "'A'",
  "'a '",
  "'b'",
  "'1'",
  "'1.0'",
  "'007'",
  "' 1'",
  "'ä'",
  "'many'",
  "'null'",
  'char(0)',
  "CAST(x'ff' AS TEXT)",
  "'x' || char(10)",
  "printf('%.*c', 300, 'k')",
];
const NUMBERS = [
  '0',
  '1',
  '1.0',
  '2',
  '3',
  '-1',
  '1.5',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '-0.0',
  '1e300',
  '9e999',
  '0.1',
  '1000000',
  'TRUE',
  "CAST('12' AS NUMERIC)",
  '5e-324',
];
const BLOBS = ["x''", "x'00'", "x'31'", "x'61'", 'zeroblob(20)'];

/** The statements of one write. */
export class StatementGenerator {
  private readonly random: () => number;
  private fresh = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  statements(): string[] {
    return Array.from({ length: this.random() < 0.75 ? 1 : 1 + Math.floor(this.random() * 4) }, () => this.statement());
  }

  private statement(): string {
    return this.random() < 0.75
      ? this.dml()
      : this.pick<() => string>([
          this.createTable,
          this.createView,
          this.createTrigger,
          this.createTrigger,
          this.createIndex,
          this.alter,
          this.drop,
          this.other,
        ]).call(this);
  }

  private dml(table: string = this.random() < 0.88 ? this.pick(SYNCED) : this.pick(ODD_TABLES)): string {
    return this.pick<(table: string) => string>([
      this.insert,
      this.insert,
      this.insert,
      this.update,
      this.update,
      this.remove,
    ]).call(this, table);
  }

  private insert(table: string): string {
    const keys = KEYS[table] ?? [];
    const columns = this.columnsOf(table).filter((column) => this.random() < (keys.includes(column) ? 0.97 : 0.6));
    const verb = this.pick([
      'INSERT',
      'INSERT',
      'INSERT',
      'INSERT OR REPLACE',
      'INSERT OR IGNORE',
      'INSERT OR ROLLBACK',
      'INSERT OR ABORT',
      'INSERT OR FAIL',
      'REPLACE',
    ]);
    if (columns.length === 0) return `${verb} INTO ${this.named(table)} DEFAULT VALUES`;
    const row = (): string =>
      `(${columns.map((column) => this.value(table === 'mark' && column === 'id' ? 'mark.id' : column)).join(', ')})`;
    const source =
      this.random() < 0.9
        ? `VALUES ${Array.from({ length: this.random() < 0.8 ? 1 : 3 }, row).join(', ')}`
        : `SELECT ${columns.map((column) => this.value(column)).join(', ')} FROM ${this.pick(SYNCED)} WHERE true`;
    return `${verb} INTO ${this.named(table)} (${columns.join(', ')}) ${source}${this.upsert(verb, table)}${this.random() < 0.1 ? ' RETURNING *' : ''}`;
  }

  private upsert(verb: string, table: string): string {
    if (verb !== 'INSERT' || this.random() > 0.35) return '';
    const target = this.pick(['', '(id)', '(list, number)', '(name)', '(whole)']);
    const columns = this.columnsOf(table);
    return ` ON CONFLICT ${target} DO ${this.random() < 0.3 ? 'NOTHING' : `UPDATE SET ${this.assignment(columns)}${this.random() < 0.3 ? ` WHERE ${this.condition(columns)}` : ''}`}`;
  }

  private update(table: string): string {
    const columns = this.columnsOf(table);
    const verb = this.pick([
      'UPDATE',
      'UPDATE',
      'UPDATE',
      'UPDATE OR REPLACE',
      'UPDATE OR IGNORE',
      'UPDATE OR FAIL',
      'UPDATE OR ROLLBACK',
    ]);
    const from = this.random() < 0.1 ? ` FROM ${this.pick(SYNCED)} AS other_rows` : '';
    return `${verb} ${this.named(table)} SET ${this.assignment(columns)}${this.random() < 0.2 ? `, ${this.assignment(columns)}` : ''}${from}${this.where(columns)}`;
  }

  private remove(table: string): string {
    return `DELETE FROM ${this.named(table)}${this.random() < 0.25 ? '' : this.where(this.columnsOf(table))}`;
  }

  private createTable(): string {
    const name = this.anyName();
    const form = this.pick(['TABLE', 'TEMP TABLE', 'TEMPORARY TABLE', 'VIRTUAL TABLE']);
    if (form === 'VIRTUAL TABLE')
      return `CREATE VIRTUAL TABLE ${name} USING ${this.pick(['fts5(a, b)', 'fts5(id)', 'rtree(id, a, b)', 'sqlite_dbpage', 'dbstat'])}`;
    const exists = this.random() < 0.2 ? 'IF NOT EXISTS ' : '';
    if (this.random() < 0.2) return `CREATE ${form} ${exists}${name} AS SELECT * FROM ${this.pick(SYNCED)}`;
    return `CREATE ${form} ${exists}${name} (id ${this.pick(['', 'TEXT', 'TEXT COLLATE NOCASE', 'INTEGER', 'ANY'])} PRIMARY KEY, name, list, number, note, whole REFERENCES thing (whole), text) ${this.pick(['', '', 'WITHOUT ROWID', 'STRICT'])}`;
  }

  private createView(): string {
    return `CREATE ${this.pick(['', 'TEMP '])}VIEW ${this.anyName()} AS SELECT * FROM ${this.pick([...SYNCED, 'draft'])}`;
  }

  private createTrigger(): string {
    if (this.random() < 0.6) return this.validTrigger();
    const time = this.pick(['BEFORE', 'AFTER', 'INSTEAD OF', '']);
    const event = this.pick(['INSERT', 'DELETE', 'UPDATE', 'UPDATE OF name', 'UPDATE OF id, list']);
    const target = `${this.random() < 0.2 ? 'main.' : ''}${this.random() < 0.6 ? this.pick(SYNCED) : this.pick(ODD_TABLES)}`;
    const body = this.pick([
      () => this.dml(),
      () => `DELETE FROM ${this.pick(INTERNAL)}`,
      () => `SELECT RAISE(${this.pick(['IGNORE', "ROLLBACK, 'no'", "ABORT, 'no'", "FAIL, 'no'"])})`,
      () => `UPDATE ${this.pick(SYNCED)} SET rowid = rowid + 100`,
    ])();
    return `CREATE ${this.pick(['', '', 'TEMP '])}TRIGGER ${this.pick(SCHEMAS)}${this.pick(['t1', 't2', 't3', 'rockpool_mine'])} ${time} ${event} ON ${target} ${this.random() < 0.3 ? `WHEN ${this.pick(['new', 'old'])}.id IS NOT NULL ` : ''}BEGIN ${body}; END`;
  }

  private validTrigger(): string {
    const isInternal = this.random() < 0.2;
    const table = isInternal
      ? this.pick(['rockpool_changelog', 'rockpool_request', 'rockpool_base'])
      : this.pick(SYNCED);
    const body = isInternal ? this.pick(['DELETE FROM rockpool_changelog', ...VALID_BODIES]) : this.pick(VALID_BODIES);
    return `CREATE ${this.pick(['TEMP ', '', ''])}TRIGGER ${this.pick(['', '', 'main.', 'temp.'])}made_${this.fresh++} ${this.pick(['BEFORE', 'AFTER'])} ${this.pick(['INSERT', 'UPDATE', 'DELETE'])} ON ${table} BEGIN ${body}; END`;
  }

  private createIndex(): string {
    const table = this.random() < 0.6 ? this.pick(SYNCED) : this.pick(ODD_TABLES);
    return `CREATE ${this.pick(['', 'UNIQUE '])}INDEX ${this.pick(SCHEMAS)}i${Math.floor(this.random() * 5)} ON ${table} (${this.pick(['name', 'whole', 'note COLLATE NOCASE', 'lower(name)', 'number', 'text'])})`;
  }

  private alter(): string {
    const table = `${this.pick(SCHEMAS)}${this.pick([...SYNCED, 'scratch', 'seen', 'draft', 'rockpool_changelog', 'thing_search'])}`;
    return `ALTER TABLE ${table} ${this.pick(['RENAME TO thing', 'RENAME TO rockpool_x', 'RENAME TO scratch', 'RENAME COLUMN name TO title', 'ADD COLUMN more TEXT', "ADD COLUMN kind TEXT DEFAULT 'x'", 'DROP COLUMN note', 'DROP COLUMN name'])}`;
  }

  private drop(): string {
    const kind = this.pick(['TABLE', 'VIEW', 'INDEX', 'TRIGGER']);
    const name =
      kind === 'INDEX'
        ? this.pick(['thing_whole', 'i1', 'i2'])
        : kind === 'TRIGGER'
          ? this.pick([
              't1',
              't2',
              ...Array.from({ length: this.fresh }, (_, i) => `made_${i}`),
              'rockpool_search_0_insert',
            ])
          : this.pick([...SYNCED, ...ODD_TABLES]);
    return `DROP ${kind} ${this.pick(['', 'IF EXISTS '])}${this.pick(SCHEMAS)}${name}`;
  }

  private other(): string {
    return this.pick([
      "ATTACH ':memory:' AS other",
      'DETACH other',
      'REINDEX',
      'REINDEX NOCASE',
      'ANALYZE',
      'VACUUM',
      "VACUUM INTO '/tmp/x'",
      'BEGIN',
      'COMMIT',
      'ROLLBACK',
      'END',
      'SAVEPOINT s',
      'RELEASE s',
      'ROLLBACK TO s',
      'SAVEPOINT rockpool_1',
      'RELEASE rockpool_1',
      'PRAGMA foreign_keys = OFF',
      'PRAGMA defer_foreign_keys = ON',
      'PRAGMA recursive_triggers = ON',
      'PRAGMA writable_schema = ON',
      'PRAGMA ignore_check_constraints = ON',
      'PRAGMA legacy_alter_table = ON',
      'PRAGMA case_sensitive_like = ON',
      'PRAGMA user_version = 7',
      'PRAGMA encoding = "UTF-16"',
      'PRAGMA reverse_unordered_selects = ON',
      'PRAGMA temp_store = FILE',
      'PRAGMA journal_mode = OFF',
      'PRAGMA integrity_check',
      "PRAGMA table_info('thing')",
      'WITH doomed AS (SELECT id FROM thing LIMIT 2) DELETE FROM thing WHERE id IN (SELECT id FROM doomed)',
      "INSERT INTO thing_search (thing_search) VALUES ('rebuild')",
      'UPDATE thing SET rowid = rowid + 1000',
      'SELECT * FROM thing',
      'EXPLAIN DELETE FROM thing',
      'DELETE FROM thing; DELETE FROM place',
      '/* nothing */',
      "UPDATE sqlite_schema SET sql = ''",
      "INSERT INTO fsdir VALUES ('x')",
    ]);
  }

  /** A name that a statement may create, with or without a schema. */
  private anyName(): string {
    const name =
      this.random() < 0.5 ? this.pick(SYNCED) : this.random() < 0.5 ? this.pick(ODD_TABLES) : `made_${this.fresh++}`;
    return `${this.pick(SCHEMAS)}${this.random() < 0.2 ? `"${name.toUpperCase()}"` : name}`;
  }

  private named(table: string): string {
    const name =
      this.random() < 0.1 ? this.pick([`"${table}"`, `[${table}]`, table.toUpperCase(), `\`${table}\``]) : table;
    return `${this.random() < 0.08 ? this.pick(SCHEMAS) : ''}${name}`;
  }

  private columnsOf(table: string): readonly string[] {
    return (SYNCED_COLUMNS[table] ?? ['id', 'name', 'text', 'note', 'sequence', 'value']).filter(
      (column) => column !== 'twice' || this.random() < 0.1,
    );
  }

  private assignment(columns: readonly string[]): string {
    const column = this.random() < 0.05 ? this.pick(['rowid', '_rowid_', 'twice']) : this.pick(columns);
    if (column === 'hits' && this.random() < 0.6) return 'hits = hits + 1';
    return this.random() < 0.1 ? `${column} = ${this.pick(columns)}` : `${column} = ${this.value(column)}`;
  }

  private where(columns: readonly string[]): string {
    return this.random() < 0.1 ? '' : ` WHERE ${this.condition(columns)}`;
  }

  private condition(columns: readonly string[]): string {
    const column = this.pick(columns);
    return this.pick([
      () => `${column} = ${this.value(column)}`,
      () => `${column} IS NOT NULL`,
      () => `${column} COLLATE NOCASE = ${this.value(column)}`,
      () => `rowid % 2 = 0`,
      () => `typeof(${column}) = 'text'`,
      () => `true`,
      () => `${column} > ${this.value(column)}`,
    ])();
  }

  /** Mostly a value of the column's type, sometimes any value. */
  private value(column: string): string {
    if (this.random() < 0.12) return this.pick([...TEXTS, ...NUMBERS, ...BLOBS, 'NULL']);
    if (this.random() < 0.08) return 'NULL';
    if (['whole', 'number', 'hits', 'fraction', 'price', 'sequence'].includes(column))
      return this.random() < 0.6 ? String(Math.floor(this.random() * 6)) : this.pick(NUMBERS);
    if (column === 'bytes') return this.pick(BLOBS);
    if (column === 'mark.id') return this.random() < 0.9 ? this.pick(BLOBS) : this.pick(TEXTS);
    if (column === 'thing_id') return this.random() < 0.5 ? 'NULL' : `'k${Math.floor(this.random() * 3)}'`;
    return this.random() < 0.7 ? `'k${Math.floor(this.random() * 8)}'` : this.pick(TEXTS);
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }
}
