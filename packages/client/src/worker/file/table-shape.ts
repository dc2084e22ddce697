import { createIndexSql, createTableSql, quoteName, type TableSchema } from '@rockpool/shared';
import { Connection } from '../sqlite/connection.ts';
import { atCommas, expressionText, sqlTokens, withinBrackets } from './sql-tokens.ts';

/**
 * Everything that decides which rows a table may have and when two rows are the same, as comparable lines. If only one
 * of two tables has a line, replicas may differ, or one may reject a row that the other has.
 *
 * It excludes the order of columns, indexes that are not unique, names of constraints and indexes, and triggers.
 */
interface TableShape {
  readonly table: readonly string[];
  /** Keyed by column name in lower case. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
}

export interface ShapeDifference {
  /** Null if the difference concerns the whole table. */
  readonly column: string | null;
  /** The declaration in the schema; 'nothing' if there is none. */
  readonly declared: string;
  /** The declaration in the database. */
  readonly found: string;
}

/**
 * Returns how a table of the database differs from its declaration. A scratch database created from the declaration is
 * read in the same way, so SQLite decides what both mean.
 */
export function shapeDifferences(connection: Connection, table: TableSchema): ShapeDifference[] {
  const scratch = new Connection(connection.runtime, { path: ':memory:' });
  try {
    scratch.exec(createTableSql(table));
    for (const index of table.indexes) if (index.unique) scratch.exec(createIndexSql(table.name, index));
    return compareShapes(readShape(scratch, table.name), readShape(connection, table.name), table);
  } finally {
    scratch.close();
  }
}

function compareShapes(declared: TableShape, found: TableShape, table: TableSchema): ShapeDifference[] {
  const ofColumns = table.columns.flatMap(({ name }) => {
    const [wanted, actual] = [declared, found].map(({ columns }) => columns.get(name.toLowerCase()) ?? []) as [
      readonly string[],
      readonly string[],
    ];
    return actual.length === 0 ? [] : compareLines(wanted, actual, name);
  });
  return [...ofColumns, ...compareLines(declared.table, found.table, null)];
}

function compareLines(declared: readonly string[], found: readonly string[], column: string | null): ShapeDifference[] {
  const missing = declared.filter((line) => !found.includes(line));
  const extra = found.filter((line) => !declared.includes(line));
  return Array.from({ length: Math.max(missing.length, extra.length) }, (_, i) => ({
    column,
    declared: missing[i] ?? 'nothing',
    found: extra[i] ?? 'nothing',
  }));
}

function readShape(connection: Connection, table: string): TableShape {
  const tokens = sqlTokens(
    String(connection.value(`SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?`, table) ?? ''),
  );
  const open = tokens.indexOf('(');
  const body = open < 0 ? [] : withinBrackets(tokens, open);
  const [strict = 0, withoutRowid = 0] =
    connection.rows(`SELECT strict, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?`, table)[0] ?? [];
  return {
    table: [
      ...(strict === 1 ? ['STRICT'] : []),
      ...(withoutRowid === 1 ? ['WITHOUT ROWID'] : []),
      ...uniqueLines(connection, table),
      ...foreignKeyLines(connection, table),
      ...checkLines(body, table),
      ...conflictLines(body),
    ],
    columns: columnLines(connection, table, body),
  };
}

function columnLines(connection: Connection, table: string, body: readonly string[]): Map<string, string[]> {
  const generated = generatedExpressions(body, table);
  return new Map(
    connection
      .rows(`SELECT name, type, hidden, pk > 0 AND "notnull" = 0, dflt_value FROM pragma_table_xinfo(?, 'main')`, table)
      .map(([name, type, hidden, keyAllowsNull, defaultSql]) => {
        const column = String(name);
        const expression = generated.get(column.toLowerCase());
        return [
          column.toLowerCase(),
          [
            `type ${affinityOf(String(type))}`,
            `collation ${collationOf(connection, table, column)}`,
            // An insert from a device that does not know the column uses the default, on that device and on the server.
            `default ${defaultText(connection, defaultSql === null ? 'NULL' : String(defaultSql), affinityOf(String(type)))}`,
            // SQLite allows NULL in keys that are not INTEGER, but rows with a NULL key are not captured.
            ...(keyAllowsNull === 1 ? ['key that allows NULL'] : []),
            ...(hidden === 2 || hidden === 3
              ? [`generated ${hidden === 3 ? 'stored' : 'virtual'} as ${expression ?? ''}`]
              : []),
          ],
        ];
      }),
  );
}

/**
 * For a constant, returns the value that a column of this affinity stores; for any other expression, such as
 * `CURRENT_TIMESTAMP` or `random()`, its tokens.
 */
function defaultText(connection: Connection, sql: string, affinity: string): string {
  const tokens = sqlTokens(sql);
  if (tokens.some((token, i) => token.startsWith('current_') || (token === '(' && /^[a-z]/.test(tokens[i - 1] ?? ''))))
    return expressionText(tokens, '');
  return String(
    connection.value(`SELECT quote(${affinity === 'blob' ? `(${sql})` : `CAST((${sql}) AS ${affinity})`})`),
  );
}

/** https://sqlite.org/datatype3.html#determination_of_column_affinity */
function affinityOf(type: string): string {
  const upper = type.toUpperCase();
  if (upper.includes('INT')) return 'integer';
  if (['CHAR', 'CLOB', 'TEXT'].some((part) => upper.includes(part))) return 'text';
  if (upper === '' || upper.includes('BLOB')) return 'blob';
  return ['REAL', 'FLOA', 'DOUB'].some((part) => upper.includes(part)) ? 'real' : 'numeric';
}

/** SQLite reveals the collation of a column only in the program of a comparison. */
function collationOf(connection: Connection, table: string, column: string): string {
  const program = connection.rows(`EXPLAIN SELECT +${quoteName(column)} < ? FROM ${quoteName(table)}`, null);
  const comparison = program.find(([, opcode]) => opcode === 'Lt');
  return String(comparison?.[5] ?? 'BINARY').replace(/-\d+$/, '');
}

function uniqueLines(connection: Connection, table: string): string[] {
  const indexes = connection.rows(`SELECT name, origin FROM pragma_index_list(?, 'main') WHERE "unique" = 1`, table);
  return indexes.map(([name, origin]) => {
    const tokens = sqlTokens(
      String(connection.value(`SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?`, name ?? '') ?? ''),
    );
    const open = tokens.indexOf('(');
    const terms = open < 0 ? [] : atCommas(withinBrackets(tokens, open));
    const where = tokens.indexOf('where');
    const columns = connection.rows(
      `SELECT name, coll, seqno FROM pragma_index_xinfo(?, 'main') WHERE key = 1`,
      name ?? '',
    );
    const named = columns.map(
      ([column, collation, at]) =>
        `${column === null ? expressionText(terms[Number(at)] ?? [], table) : String(column).toLowerCase()} ${String(collation)}`,
    );
    // The order of the columns does not decide which rows are equal.
    return `${origin === 'pk' ? 'primary key' : 'unique'} (${named.sort().join(', ')})${where < 0 ? '' : ` where ${expressionText(tokens.slice(where + 1), table)}`}`;
  });
}

function foreignKeyLines(connection: Connection, table: string): string[] {
  const byId = new Map<number, { readonly head: string; readonly tail: string; readonly pairs: string[] }>();
  for (const [id, parent, from, to, onUpdate, onDelete] of connection.rows(
    `SELECT id, "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?, 'main')`,
    table,
  )) {
    const key = byId.get(Number(id)) ?? {
      head: String(parent).toLowerCase(),
      tail: `on update ${String(onUpdate)} on delete ${String(onDelete)}`.toLowerCase(),
      pairs: [],
    };
    // A foreign key without columns refers to the primary key.
    key.pairs.push(
      `${String(from)} to ${to === null ? keyColumn(connection, String(parent), key.pairs.length) : String(to)}`.toLowerCase(),
    );
    byId.set(Number(id), key);
  }
  return [...byId.values()].map(
    ({ head, tail, pairs }) => `foreign key to ${head}: ${pairs.sort().join(', ')} ${tail}`,
  );
}

function keyColumn(connection: Connection, table: string, position: number): string {
  return String(
    connection.value(`SELECT name FROM pragma_table_xinfo(?, 'main') WHERE pk = ?`, table, position + 1) ?? '',
  );
}

function checkLines(body: readonly string[], table: string): string[] {
  return body.flatMap((token, at) =>
    token === 'check' && body[at + 1] === '(' ? [`check ${expressionText(withinBrackets(body, at + 1), table)}`] : [],
  );
}

/**
 * A constraint that makes SQLite replace or ignore rows would also do so when deliveries are applied, and no other
 * replica would do the same.
 */
function conflictLines(body: readonly string[]): string[] {
  return body.flatMap((token, at) =>
    token === 'on' && body[at + 1] === 'conflict' ? [`on conflict ${body[at + 2] ?? ''}`] : [],
  );
}

function generatedExpressions(body: readonly string[], table: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const definition of atCommas(body)) {
    const at = definition.findIndex((token, i) => token === 'as' && definition[i + 1] === '(');
    if (at > 0) found.set(definition[0] ?? '', expressionText(withinBrackets(definition, at + 1), table));
  }
  return found;
}
