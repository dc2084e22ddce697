import { Column, getTableName, is, SQL, Subquery, type DriverValueDecoder } from 'drizzle-orm';
import { RockpoolError } from '@rockpool/client';
import type { SqlRow, SqlValue } from '../client.ts';
import { resultColumn } from './result-columns.ts';

/** One selected field, as Drizzle orders them: `path` is where its value goes in the result. */
export interface SelectedField {
  readonly path: readonly string[];
  readonly field: unknown;
}

/** By table name: whether the joins of a query always give a row of it. Null for a query without joins. */
export type JoinedTables = Readonly<Record<string, boolean>>;

/** Turns one row of the client into what Drizzle's types promise. */
export type RowDecoder = (row: SqlRow) => unknown;

type Decode = (value: SqlValue) => unknown;
type Node = Record<string, unknown>;

interface Step {
  readonly source: string;
  readonly path: readonly string[];
  readonly key: string;
  /** Null where Drizzle would give the value back as it is. */
  readonly decode: Decode | null;
}

/**
 * What Drizzle's own mapping does for each value of each row is decided here once a query: where the value goes and who
 * decodes it.
 *
 * A joined table that has no row becomes null. Drizzle decides that by the first selected column of the table alone;
 * here all of them must be NULL, so that a row whose first column happens to be NULL is not lost.
 */
export function createRowDecoder(fields: readonly SelectedField[], joined: JoinedTables | null): RowDecoder {
  const steps = fields.map(({ path, field }, position): Step => {
    return { source: resultColumn(position), path: path.slice(0, -1), key: path.at(-1) ?? '', decode: decodeOf(field) };
  });
  const absences = joined === null ? [] : absencesOf(fields, joined);

  // Copies of one template share their shape, which makes flat rows cheaper than objects filled from empty.
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

/** A stored value is not what its column says. Without the cause: that of JSON.parse quotes the value. */
export function undecodable(column: string | null): RockpoolError {
  return new RockpoolError(
    'internal',
    column === null
      ? { problem: 'stored value cannot be decoded' }
      : { problem: 'stored value cannot be decoded', column },
  );
}

function decodeOf(field: unknown): Decode | null {
  const decoder = decoderOf(field);
  const decode = decoder.mapFromDriverValue;
  // Most columns are stored as they are shown.
  if (decode === Column.prototype.mapFromDriverValue) return null;
  return (value) => decode.call(decoder, value);
}

function decoderOf(field: unknown): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  if (is(field, SQL.Aliased)) return decoderOfSql(field.sql);
  if (is(field, Subquery)) return decoderOfSql(field._.sql);
  return decoderOfSql(field as SQL);
}

/** Drizzle keeps it out of its types, not out of its drivers. */
function decoderOfSql(expression: SQL): DriverValueDecoder<unknown, unknown> {
  return (expression as unknown as { readonly decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}

interface Absence {
  readonly key: string;
  readonly sources: readonly string[];
}

/** The objects of a result that are one table each, and a table that joins may leave out. */
function absencesOf(fields: readonly SelectedField[], joined: JoinedTables): readonly Absence[] {
  const tablesByKey = new Map<string, Set<string | undefined>>();
  const sourcesByKey = new Map<string, string[]>();
  fields.forEach(({ path: [key = '', ...rest], field }, position) => {
    if (rest.length !== 1) return;
    // Something that is no column says nothing about whether there is a row.
    if (!is(field, Column)) return;
    tablesByKey.set(key, (tablesByKey.get(key) ?? new Set()).add(getTableName(field.table)));
    sourcesByKey.set(key, [...(sourcesByKey.get(key) ?? []), resultColumn(position)]);
  });
  return [...tablesByKey].flatMap(([key, tables]) => {
    const [table] = tables;
    // A view's columns have no table name here, in Drizzle neither: whether it has a row is not known.
    return tables.size === 1 && typeof table === 'string' && joined[table] !== true
      ? [{ key, sources: sourcesByKey.get(key) ?? [] }]
      : [];
  });
}
