import {
  encodeSchema,
  policyOf,
  RESERVED_TABLE_PREFIX,
  RockpoolError,
  type ErrorFields,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { Migration } from '../../rpc/migration.ts';
import type { DecodedChangeset } from '../changelog/decoded-changeset.ts';
import type { Connection } from '../sqlite/connection.ts';
import { createMigrationPolicy } from '../sqlite/sql-policy.ts';
import type { Meta } from '../file/meta.ts';
import { shapeDifferences } from '../file/table-shape.ts';

const BREAKPOINT = '--> statement-breakpoint';

/**
 * drizzle-kit turns foreign keys off around a table that it rebuilds. Here they are off for all migrations and checked
 * afterwards.
 */
const SWITCHES_FOREIGN_KEYS = /^\s*PRAGMA\s+foreign_keys\s*=/i;

export interface UndecidedChangeset extends Pick<DecodedChangeset, 'groups'> {
  readonly isRejected?: true;
}

/** The migrations that the file has run. */
type Done = readonly (readonly [tag: string, hash: string])[];

export interface MigrationParts {
  readonly connection: Connection;
  readonly meta: Meta;
  /** Called after each statement. */
  readonly onStep: (() => void) | undefined;
}

/**
 * Runs the app's new migrations, all or nothing, within the transaction that opens the database. Foreign keys must be
 * off. Throws `migration-failed` with the tag and the reason, also if a local table became a synced one.
 */
export function runMigrations(
  { connection, meta, onStep }: MigrationParts,
  migrations: readonly Migration[],
  stored: Schema,
  wanted: Schema,
): void {
  const done = readDone(meta);
  const fresh = migrations.slice(done.length);
  requireLocalTables(stored, wanted, migrations);
  const synced = new Set(
    [...stored.tables, ...wanted.tables].filter((table) => table.synced).map(({ name }) => name.toLowerCase()),
  );
  const reserved = reservedNames(connection);
  const broken = tablesWithBrokenKeys(connection);
  for (const migration of fresh) runMigration(connection, migration, synced, onStep);
  requireNoNewReservedNames(connection, reserved, fresh);
  requireForeignKeys(connection, broken, fresh);
  requireSchema(connection, wanted, fresh);
  rememberMigrations(meta, fresh, done);
}

/**
 * Records migrations as run, also for a database that reached their result without them. Keeps the hashes of those
 * before: an earlier version of Rockpool compares them with its own.
 */
export function rememberMigrations(meta: Meta, migrations: readonly Migration[], before: Done = []): void {
  const added = migrations.map(({ tag, sql }) => [tag, hashOf(withoutCr(sql))]);
  meta.set('migrations_json', JSON.stringify([...before, ...added]));
}

/** Whether the file is ahead of this bundle: it has run all of these migrations, and more. */
export function isBehind(meta: Meta, migrations: readonly Migration[]): boolean {
  const done = readDone(meta);
  return (
    migrations.length < done.length &&
    migrations.every(({ tag, sql }, index) => done[index]?.[0] === tag && hasHash(sql, done[index]?.[1]))
  );
}

/**
 * Whether the migrations, or the merge rules, of this schema are new to the file, which is not ahead of this bundle.
 * Throws `migration-failed` if the file has run different migrations.
 */
export function hasChanges(meta: Meta, migrations: readonly Migration[], stored: Schema, wanted: Schema): boolean {
  const done = readDone(meta);
  requireSameHistory(done, migrations);
  return migrations.length > done.length || encodeSchema(stored) !== encodeSchema(wanted);
}

function readDone(meta: Meta): Done {
  return JSON.parse((meta.get('migrations_json') ?? '[]') as string) as [string, string][];
}

function requireSameHistory(done: Done, migrations: readonly Migration[]): void {
  for (const [index, [doneTag, hash]] of done.slice(0, migrations.length).entries()) {
    const { tag, sql } = migrations[index] as Migration;
    if (tag !== doneTag) throw failed(tag, { problem: `the database ran the migration ${doneTag} here` });
    if (!hasHash(sql, hash)) throw failed(tag, { problem: 'the migration changed after it ran' });
  }
}

function runMigration(
  connection: Connection,
  { tag, sql }: Migration,
  synced: ReadonlySet<string>,
  onStep: MigrationParts['onStep'],
): void {
  const statements = sql.split(BREAKPOINT).map((text) => text.trim());
  for (const [index, text] of statements.entries()) {
    if (text === '' || SWITCHES_FOREIGN_KEYS.test(text)) continue;
    try {
      runStatement(connection, text, synced);
      onStep?.();
    } catch (cause) {
      if (!(cause instanceof RockpoolError) || /^(internal$|storage-)/.test(cause.code)) throw cause;
      throw failed(
        tag,
        {
          statement: index + 1,
          reason: cause.code,
          ...(typeof cause.fields['problem'] === 'string' ? { problem: cause.fields['problem'] } : {}),
        },
        cause,
      );
    }
  }
}

function runStatement(connection: Connection, sql: string, synced: ReadonlySet<string>): void {
  const statement = connection.prepare(sql, createMigrationPolicy(synced));
  try {
    statement.run();
  } finally {
    statement.finalize();
    connection.dropIdleStatements();
  }
}

/**
 * Returns `migration-refused` if undecided changes name a table or column that is dropped, or a column that becomes a
 * counter or a document or stops being one; null otherwise. For such a column, rejected changes count too. An undecided
 * changeset refers to the tables and columns that existed when it was written, and has its meaning under the merge
 * rules of that time: under those of a counter, a value is a difference.
 */
export function migrationRefusal(
  undecided: Iterable<UndecidedChangeset>,
  stored: Schema,
  wanted: Schema,
): RockpoolError | null {
  const kept = new Map(wanted.tables.map((table) => [table.id, table]));
  const refusals = new Map(stored.tables.map((table) => [table.id, refusalsIn(table, kept.get(table.id))]));
  for (const { groups, isRejected = false } of undecided) {
    for (const { tableId, columnIds, kind } of groups) {
      const refusal = refusals
        .get(tableId)
        ?.find(
          ({ columnId, change }) =>
            (columnId === null || columnIds.includes(columnId)) &&
            (change === 'drop' ? !isRejected : change === 'document' || kind !== 'insert'),
        );
      if (refusal !== undefined) return new RockpoolError('migration-refused', refusal.fields);
    }
  }
  return null;
}

/** Rows of a local table are in no changeset. They would never be sent, and the next full resync would delete them. */
function requireLocalTables(stored: Schema, wanted: Schema, migrations: readonly Migration[]): void {
  const table = stored.tables.find(
    ({ name, synced }) => !synced && wanted.tables.some((after) => after.synced && after.name === name),
  )?.name;
  if (table !== undefined)
    throw failed(lastTag(migrations), { table, problem: 'the synced state of the table changed' });
}

interface Refusal {
  /** Null for the whole table. */
  readonly columnId: number | null;
  /** An insert carries the value under the rules of a counter too, but not under those of a document. */
  readonly change: 'drop' | 'counter' | 'document';
  readonly fields: ErrorFields;
}

/** What undecided changes must not name. */
function refusalsIn(before: TableSchema, after: TableSchema | undefined): readonly Refusal[] {
  const table = before.name;
  if (after === undefined)
    return [{ columnId: null, change: 'drop', fields: { table, problem: 'the table to drop has unsent changes' } }];
  return before.columns.flatMap(({ id: columnId, name: column }) => {
    const refuse = (change: Refusal['change'], problem: string): Refusal[] => [
      { columnId, change, fields: { table, column, problem } },
    ];
    if (!after.columns.some(({ id }) => id === columnId))
      return refuse('drop', 'the column to drop has unsent changes');
    const rules = [policyOf(before, columnId), policyOf(after, columnId)].filter(({ accumulates }) => accumulates);
    if (rules[0] === rules[1]) return [];
    const change = rules.some(({ name }) => name === 'document') ? 'document' : 'counter';
    return refuse(change, 'the column with a new merge rule has unsent or rejected changes');
  });
}

/** SQLite does not report the new name of a renamed table, so no policy can reject a reserved one beforehand. */
function requireNoNewReservedNames(
  connection: Connection,
  before: ReadonlySet<string>,
  migrations: readonly Migration[],
): void {
  const [name] = [...reservedNames(connection)].filter((found) => !before.has(found));
  if (name !== undefined) throw failed(lastTag(migrations), { problem: 'the table name is reserved', name });
}

function reservedNames(connection: Connection): ReadonlySet<string> {
  return new Set(
    connection
      .rows(
        `SELECT name FROM sqlite_schema WHERE lower(substr(name, 1, ?)) = ?`,
        RESERVED_TABLE_PREFIX.length,
        RESERVED_TABLE_PREFIX,
      )
      .map(([name]) => String(name)),
  );
}

/**
 * `before`: the rows that referred to missing rows already, because another device has deleted the parent of a pending
 * or local row. Only the server's decision or the app can repair them.
 */
function requireForeignKeys(connection: Connection, before: readonly string[], migrations: readonly Migration[]): void {
  const after = tablesWithBrokenKeys(connection);
  if (after.length > before.length)
    throw failed(lastTag(migrations), {
      problem: 'foreign keys refer to missing rows',
      table: after.find((table, index) => table !== before[index]) ?? '',
    });
}

/** The table of each row that refers to a missing row. */
function tablesWithBrokenKeys(connection: Connection): string[] {
  return connection.rows('SELECT "table" FROM pragma_foreign_key_check ORDER BY 1').map(String);
}

/** Reports all differences at once, by name: everything that the app will read and write must exist. */
function requireSchema(connection: Connection, schema: Schema, migrations: readonly Migration[]): void {
  const problems = schema.tables.flatMap((table) => differences(connection, table));
  if (problems.length > 0)
    throw failed(lastTag(migrations), {
      problem: 'the migrations do not produce the schema',
      count: problems.length,
      differences: problems.join('\n'),
    });
}

function differences(connection: Connection, table: TableSchema): string[] {
  const found = new Map(
    connection
      .rows(`SELECT name, "notnull", pk FROM pragma_table_xinfo(?, 'main')`, table.name)
      .map(([name, notNull, pk]) => [String(name), { notNull: notNull === 1, pk: Number(pk) }]),
  );
  if (found.size === 0) return [`table ${table.name} is missing`];
  const problems = table.columns.flatMap(({ name, notNull }) => {
    const column = found.get(name);
    if (column === undefined) return [`column ${table.name}.${name} is missing`];
    // An integer key is never NULL, whatever its declaration says.
    return notNull === column.notNull || column.pk > 0
      ? []
      : [`column ${table.name}.${name} ${notNull ? 'allows' : 'does not allow'} NULL`];
  });
  const key = [...found]
    .filter(([, { pk }]) => pk > 0)
    .sort(([, a], [, b]) => a.pk - b.pk)
    .map(([name]) => name);
  if (JSON.stringify(key) !== JSON.stringify(table.primaryKey))
    problems.push(`table ${table.name} has the primary key (${key.join(', ')})`);
  for (const name of found.keys())
    if (!table.columns.some((column) => column.name === name))
      problems.push(`column ${table.name}.${name} is not in the schema`);
  // Tables that are not synced may have any shape.
  if (table.synced)
    for (const { column, declared, found: actual } of shapeDifferences(connection, table))
      problems.push(
        `${column === null ? `table ${table.name}` : `column ${table.name}.${column}`}: the schema declares ${declared}, the database has ${actual}`,
      );
  return problems;
}

function lastTag(migrations: readonly Migration[]): string {
  return migrations.at(-1)?.tag ?? '';
}

function failed(tag: string, fields: Readonly<Record<string, string | number>>, cause?: unknown): RockpoolError {
  return new RockpoolError('migration-failed', { migration: tag, ...fields }, { cause });
}

/**
 * Git on Windows ends lines with CR and LF, and a build there has the same migrations. Databases that an earlier
 * version of Rockpool migrated there have the hash of that text.
 */
function hasHash(sql: string, hash: string | undefined): boolean {
  const text = withoutCr(sql);
  return hash === hashOf(text) || hash === hashOf(text.replaceAll('\n', '\r\n'));
}

function withoutCr(sql: string): string {
  return sql.replaceAll('\r', '');
}

/** FNV-1a, 32 bits: detects accidental edits, not malicious ones. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}
