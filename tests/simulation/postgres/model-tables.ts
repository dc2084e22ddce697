/** A row as PostgreSQL's text format writes its values, by column. */
export type ModelRow = ReadonlyMap<string, string | null>;

export interface ModelColumn {
  readonly name: string;
  readonly type: string;
}

/** One table of the model: its rows by key, for all databases. */
export interface ModelTable {
  readonly columns: ModelColumn[];
  readonly key: readonly string[];
  /** A commit replaces it if a snapshot needs the old rows. */
  rows: Map<string, ModelRow>;
}

/** The changes of one part of a commit's statement. All rows have the same columns. */
export interface WrittenRows {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  readonly rows: readonly ModelRow[];
}

const COLUMN = /^"((?:[^"]|"")+)" (bigint|double precision|text|bytea|numeric)/;

/** Reads `CREATE TABLE rockpool."name" (…)` of prepare-schema.ts. */
export function readCreateTable(sql: string): { readonly name: string; readonly table: ModelTable } | null {
  const match = /^CREATE TABLE rockpool\."([^"]+)" \((.*), PRIMARY KEY \(([^)]*)\)\);/s.exec(sql);
  if (match === null) return null;
  const [, name = '', body = '', key = ''] = match;
  const columns = body.split(', ').flatMap((part) => {
    const column = COLUMN.exec(part);
    return column === null ? [] : [{ name: unquoted(column[1] ?? ''), type: column[2] ?? '' }];
  });
  return { name, table: { columns, key: namesIn(key), rows: new Map() } };
}

export function namesIn(sql: string): string[] {
  return [...sql.matchAll(/"((?:[^"]|"")+)"/g)].map(([, name = '']) => unquoted(name));
}

function unquoted(name: string): string {
  return name.replaceAll('""', '"');
}

const PART =
  /part\d+ AS \((INSERT INTO|DELETE FROM|UPDATE) rockpool\."([^"]+)" (.*?) ?(?:FROM|USING) unnest\(([^)]*)\) AS given \([^)]*\)(.*?) RETURNING 1\)/gs;

/** Reads the rows that a statement of write-changes.ts writes. */
export function readWrittenRows(sql: string, parameters: readonly unknown[]): WrittenRows[] {
  return [...sql.matchAll(PART)].map(([, verb, table = '', head = '', given = '', where = '']) => {
    const values = [...given.matchAll(/\$(\d+)::/g)].map(([, number]) =>
      readArray(String(parameters[Number(number) - 1])),
    );
    const kind = verb === 'INSERT INTO' ? 'insert' : verb === 'UPDATE' ? 'update' : 'delete';
    const columns = kind === 'insert' ? namesIn(head) : givenColumns(`${head} ${where}`, values.length);
    const rows = (values[0] ?? []).map((_, row) => new Map(columns.map((name, c) => [name, values[c]?.[row] ?? null])));
    return { table, kind, rows };
  });
}

/** The columns that `given0`, `given1` and so on are set to, or compared with. */
function givenColumns(sql: string, count: number): string[] {
  const columns = new Map(
    [...sql.matchAll(/"((?:[^"]|"")+)" = given(\d+)/g)].map(([, name = '', given]) => [Number(given), unquoted(name)]),
  );
  return Array.from({ length: count }, (_, given) => columns.get(given) ?? '');
}

/** Reads an array in PostgreSQL's text format. */
function readArray(text: string): (string | null)[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|NULL/gs)].map(([whole, quoted]) =>
    whole === 'NULL' ? null : (quoted ?? '').replaceAll(/\\(.)/gs, '$1'),
  );
}

export function keyOfRow(databaseId: string, { key }: ModelTable, row: ModelRow): string {
  return JSON.stringify([databaseId, ...key.map((name) => row.get(name) ?? null)]);
}

export function isOfDatabase(key: string, databaseId: string): boolean {
  return key.startsWith(JSON.stringify([databaseId]).slice(0, -1));
}

/** A value as the driver returns it. */
export function toDriver(type: string, text: string | null): unknown {
  if (text === null) return null;
  if (type === 'double precision') return Number(text);
  if (type === 'bytea') return Buffer.from(text.slice(2), 'hex');
  return text;
}
