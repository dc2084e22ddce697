import { RockpoolError, type SqlRow, type SqlValue } from '@rockpool/client';
import { Column, getTableName, is, SQL, Subquery, type DriverValueDecoder } from 'drizzle-orm';
import { resultColumn } from './result-columns.ts';

/** One selected field, in Drizzle's order. `path` is the position of its value in the result. */
export interface SelectedField {
  readonly path: readonly string[];
  readonly field: unknown;
}

/** Whether the joins of a query always yield a row of the table, by table name. Null for a query without joins. */
export type JoinedTables = Readonly<Record<string, boolean>>;

/** Converts one row of the client to Drizzle's type. */
export type RowDecoder = (row: SqlRow) => unknown;

type Decode = (value: SqlValue) => unknown;
type Node = Record<string, unknown>;

interface Step {
  readonly source: string;
  readonly path: readonly string[];
  readonly key: string;
  /** Null if the value needs no decoding. */
  readonly decode: Decode | null;
}

/**
 * Decides once per query what Drizzle's own mapping decides for each value of each row: the target of a value and its
 * decoder.
 *
 * A joined table without a row becomes null. Drizzle decides that by the first selected column of the table alone; here
 * all its columns must be NULL, so that a row is not lost because its first column is NULL.
 */
export function createRowDecoder(fields: readonly SelectedField[], joined: JoinedTables | null): RowDecoder {
  const steps = fields.map(({ path, field }, position): Step => {
    return { source: resultColumn(position), path: path.slice(0, -1), key: path.at(-1) ?? '', decode: decodeOf(field) };
  });
  const absences = joined === null ? [] : absencesOf(fields, joined);

  // Copies of one template share their shape, which makes flat rows cheaper than filling empty objects.
  const template: Node = Object.fromEntries(
    steps.filter(({ path }) => path.length === 0).map(({ key }) => [key, null]),
  );

  return (row) => {
    const result: Node = { ...template };
    for (const step of steps) {
      const value = row[step.source] as SqlValue;
      let node = result;
      for (const key of step.path) node = (node[key] ??= {}) as Node;
      node[step.key] = value === null || step.decode === null ? value : decodeValue(step, step.decode, value);
    }
    for (const { key, sources } of absences) if (sources.every((source) => row[source] === null)) result[key] = null;
    return result;
  };
}

function decodeValue(step: Step, decode: Decode, value: SqlValue): unknown {
  try {
    return decode(value);
  } catch {
    throw undecodable([...step.path, step.key].join('.'));
  }
}

/**
 * The error for a stored value that its column cannot decode. Has no cause, because a JSON.parse error quotes the
 * value.
 */
export function undecodable(column: string | null): RockpoolError {
  return new RockpoolError(
    'internal',
    column === null
      ? { problem: 'the stored value cannot be decoded' }
      : { problem: 'the stored value cannot be decoded', column },
  );
}

function decodeOf(field: unknown): Decode | null {
  const decoder = decoderOf(field);
  const decode = decoder.mapFromDriverValue;
  // Most columns need no decoding.
  if (decode === Column.prototype.mapFromDriverValue) return null;
  return (value) => decode.call(decoder, value);
}

function decoderOf(field: unknown): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  if (is(field, SQL.Aliased)) return decoderOfSql(field.sql);
  if (is(field, Subquery)) return decoderOfSql(field._.sql);
  return decoderOfSql(field as SQL);
}

/** The decoder of an SQL expression, which Drizzle's drivers use but its types omit. */
function decoderOfSql(expression: SQL): DriverValueDecoder<unknown, unknown> {
  return (expression as unknown as { readonly decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}

interface Absence {
  readonly key: string;
  readonly sources: readonly string[];
}

/** The objects of a result that each represent one table. An outer join may leave them empty. */
function absencesOf(fields: readonly SelectedField[], joined: JoinedTables): readonly Absence[] {
  const tablesByKey = new Map<string, Set<string | undefined>>();
  const sourcesByKey = new Map<string, string[]>();
  fields.forEach(({ path: [key = '', ...rest], field }, position) => {
    if (rest.length !== 1) return;
    // A value that is not a column does not show whether the table has a row.
    if (!is(field, Column)) return;
    tablesByKey.set(key, (tablesByKey.get(key) ?? new Set()).add(getTableName(field.table)));
    sourcesByKey.set(key, [...(sourcesByKey.get(key) ?? []), resultColumn(position)]);
  });
  return [...tablesByKey].flatMap(([key, tables]) => {
    const [table] = tables;
    // As in Drizzle, columns of a view have no table name, so an object of a view is never replaced by null.
    return tables.size === 1 && typeof table === 'string' && joined[table] !== true
      ? [{ key, sources: sourcesByKey.get(key) ?? [] }]
      : [];
  });
}
