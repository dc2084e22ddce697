import { CONFLICT_TABLE, keyColumns, syncedTables, quoteName, type Schema, type TableSchema } from '#shared/index.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import { householdSchema, olderSchema, TALLIES } from './household-schema.ts';
import { marksIn, type Model } from './model.ts';
import { linesOf, tablesOf } from './oracle/tables.ts';
import { NamedTexts, type AskForTexts } from './table-texts.ts';
import type { Tab } from './tab.ts';

/** The prefix of a counter problem. */
export const MISCOUNT = 'a counter that is not the sum of what was added';

/** The mark of the transaction that creates the counters. */
export const FIRST_MARK = 'counters';

const lineSql = (columns: readonly string[]): string =>
  columns.map((name) => `quote(${quoteName(name)})`).join(` || ',' || `);

/** One line per row of a table. Equal lines mean equal types and bytes. */
function linesSql(table: TableSchema, columns: readonly string[]): string {
  const order = keyColumns(table)
    .map(({ name }) => quoteName(name))
    .join(', ');
  return `SELECT group_concat(line, char(30)) FROM (SELECT ${lineSql(columns)} AS line FROM ${quoteName(table.name)} ORDER BY ${order})`;
}

/** The texts of the oracle, and what it does not judge: the generated columns of each table, and the conflict log. */
const contentIn = (schema: Schema): NamedTexts => {
  const generated = syncedTables(schema).flatMap((table): [string, string][] => {
    const columns = table.columns.filter((column) => column.generated !== null).map(({ name }) => name);
    const name = `generated columns of ${table.name}`;
    return columns.length === 0 ? [] : [[name, linesSql(table, [...table.primaryKey, ...columns])]];
  });
  const conflictColumns = CONFLICT_TABLE.columns.map(({ name }) => name);
  return new NamedTexts(
    new Map([
      ...[...tablesOf(schema).values()].map(({ name, sql }): [string, string] => [name, sql]),
      ...generated,
      [CONFLICT_TABLE.name, linesSql(CONFLICT_TABLE, conflictColumns)],
    ]),
  );
};

const CONTENT: NamedTexts = contentIn(householdSchema);
const OLDER_CONTENT: NamedTexts = contentIn(olderSchema);
const NARROWED = new NamedTexts(
  new Map([...OLDER_CONTENT.sqlByName].filter(([name, sql]) => sql !== CONTENT.sqlByName.get(name))),
);

/**
 * All rows of all synced tables and of the conflict log, with the columns of this schema. Returns the strings of
 * `known` where they are equal.
 */
export function contentOf(
  ask: AskForTexts,
  schema: Schema = householdSchema,
  known?: ReadonlyMap<string, string>,
): Map<string, string> {
  return (isOlder(schema) ? OLDER_CONTENT : CONTENT).read(ask, known);
}

/**
 * Reduces content of the newer schema to what the older schema shows. Queries only tables of which the older schema
 * lacks columns or rows.
 */
export function narrowed(
  content: ReadonlyMap<string, string>,
  ask: AskForTexts,
  known?: ReadonlyMap<string, string>,
): Map<string, string> {
  const own = NARROWED.read(ask, known);
  return new Map([...OLDER_CONTENT.sqlByName.keys()].map((name) => [name, own.get(name) ?? content.get(name) ?? '']));
}

/** Whether a schema is the older one. A file that the newer app has opened once has the newer schema. */
export function isOlder({ hash }: Schema): boolean {
  return hash === olderSchema.hash;
}

/** Returns the first difference, or null. */
export function difference(mine: ReadonlyMap<string, string>, theirs: ReadonlyMap<string, string>): string | null {
  for (const [table, content] of mine) {
    const other = theirs.get(table) ?? '';
    if (content === other) continue;
    const [a, b] = [new Set(linesOf(content)), new Set(linesOf(other))];
    const only = (from: Set<string>, without: Set<string>): string =>
      [...from]
        .filter((line) => !without.has(line))
        .slice(0, 3)
        .join(' | ');
    return `${table}: here only ${only(a, b) || '(nothing)'}; there only ${only(b, a) || '(nothing)'}`;
  }
  return null;
}

/**
 * Selects a counter that differs from the sum of its additions. An addition may lose together with its row to another
 * insert of the same key; the conflict log then has it from the same commit on. `only` names the counters to check,
 * which exist from the beginning. With null, all are checked, including those that several devices created and between
 * which only the server can decide.
 */
const miscountSql = (only: readonly string[] | null): string => `
  SELECT printf('${MISCOUNT}: %s = %d, but its marks minus its entries in the conflict log add up to %d', id, hits, marked - lost)
  FROM (
    SELECT id, hits, (SELECT coalesce(sum(delta), 0) FROM mark WHERE tally_id = tally.id) AS marked,
      (SELECT coalesce(sum(lost_value), 0) FROM rockpool_conflict WHERE table_name = 'tally' AND column_name = 'hits' AND row_key = json_array(tally.id)) AS lost
    FROM tally ${only === null ? '' : `WHERE id IN (${only.map((id) => `'${id}'`).join(', ')})`}
  ) WHERE hits <> marked - lost LIMIT 1`;

/** Selects the fault that the rows of one reader show without a comparison, or NULL. */
const faultSql = (counters: readonly string[] | null): string => `coalesce(
  (SELECT printf('pair %d has half of a transaction', pair) FROM half
    GROUP BY pair HAVING count(*) <> 2 OR min(token) <> max(token) OR count(token) <> 2 LIMIT 1),
  (${miscountSql(counters)}),
  (SELECT 'one column of a group without the other' FROM goal WHERE high - low <> width LIMIT 1),
  (SELECT 'one column of a group without the other' FROM trip WHERE last_day - first_day <> days LIMIT 1),
  (SELECT printf('page %s has half of an edit', id) FROM page
    WHERE content ->> 'left' IS NOT content ->> 'right' LIMIT 1))`;

const SERVER_FAULT_SQL = `SELECT ${faultSql(null)}`;
const VIEW_FAULT_SQL = `SELECT ${faultSql(TALLIES)}`;

/** Returns the fault in the rows of the server. */
export function serverFault(ask: AskForTexts): string | null {
  return ask(SERVER_FAULT_SQL)[0] ?? null;
}

/** Returns the fault in the rows that a reader sees. The check applies to every reader at any time. */
export function rowsFault(ask: AskForTexts): string | null {
  return ask(VIEW_FAULT_SQL)[0] ?? null;
}

/** Returns the fault in the rows that a tab's reader or writer sees. */
export function viewFault(tab: Tab): string | null {
  const database = tab.opened?.database;
  if (database === undefined) return null;
  return rowsFault(textsIn(database));
}

/**
 * Whether a device that continues as a new site has re-created the counters and the server has not decided yet: its
 * own row hides the server's row with the same key, and what others added to that one.
 */
export function recreatesCounters(database: OpenDatabase): boolean {
  const { changelog, outbox } = database;
  const pending = [...changelog.readAfter(outbox.lastAckedSequence())];
  return pending.some(({ sequence }) => marksIn(database, sequence).includes(FIRST_MARK));
}

/** The page's one live query, over the marks and counters. */
export const SHOWN_SQL =
  "SELECT (SELECT count(*) FROM mark) || ' marks, ' || (SELECT coalesce(group_concat(hits), '') FROM (SELECT hits FROM tally ORDER BY id))";

/** Its result. */
export function shownBy(tab: Tab): string | null {
  const database = tab.opened?.database;
  return database === undefined ? null : shownTo(textsIn(database));
}

export function shownTo(ask: AskForTexts): string | null {
  return ask(SHOWN_SQL)[0] ?? null;
}

/** Queries the rows that the connection of a tab sees. */
export function textsIn({ connection }: OpenDatabase): AskForTexts {
  const ask = (sql: string): (string | null)[] =>
    (connection.rows(sql)[0] ?? []).map((value) => (value === null ? null : String(value)));
  return (sql) => {
    try {
      return ask(sql);
    } catch (thrown) {
      // A reader whose snapshot is gone reads the current state next time.
      if ((thrown as { code?: unknown }).code !== 'storage-lost') throw thrown;
      return ask(sql);
    }
  };
}

/** Returns a write that this device's storage confirmed and that is missing. */
export function lostWrites(model: Model, device: string, database: OpenDatabase): string | null {
  const missing = missingMarks(
    model,
    [...(model.marksOf.get(device) ?? [])].filter((mark) => !model.shared.has(mark)),
    database,
  );
  const rejected = missing.length === 0 ? NOTHING : rejectedMarks(database);
  for (const mark of missing) if (!rejected.has(mark)) return `the transaction ${mark} is lost`;
  const drafts = new Set(database.connection.rows('SELECT id FROM draft').map(([id]) => Number(id)));
  for (const draft of model.draftsOf.get(device) ?? []) if (!drafts.has(draft)) return `the local row ${draft} is lost`;
  return null;
}

/** A write that a device and its copy share is either present on this device or rejected on one of the two. */
export function lostTogether(model: Model, databases: readonly OpenDatabase[]): string | null {
  const rejected = new Set(databases.flatMap((database) => [...rejectedMarks(database)]));
  for (const database of databases) {
    for (const mark of missingMarks(model, model.shared, database))
      if (!rejected.has(mark)) return `the transaction ${mark} of a device and of its copy is lost`;
  }
  return null;
}

const NOTHING: ReadonlySet<string> = new Set();

function missingMarks(model: Model, marks: Iterable<string>, database: OpenDatabase): string[] {
  const here = new Set(database.connection.rows('SELECT id FROM mark').map(([id]) => String(id)));
  return [...marks].filter((mark) => !here.has(mark) && !model.dropped.has(mark));
}

function rejectedMarks(database: OpenDatabase): Set<string> {
  return new Set(
    database.connection
      .rows('SELECT sequence FROM rockpool_parked')
      .flatMap(([sequence]) => marksIn(database, Number(sequence))),
  );
}

/** Returns the fault in a freshly opened database. */
export function firstOpening(database: OpenDatabase): string | null {
  const integrity = database.connection.value('PRAGMA integrity_check');
  if (integrity !== 'ok') return `integrity_check: ${String(integrity)}`;
  try {
    database.connection.run(`INSERT INTO entry_text(entry_text, rank) VALUES ('integrity-check', 1)`);
  } catch (thrown) {
    return `the full-text index differs from its rows: ${String(thrown)}`;
  }
  return null;
}
