import type { Declarations, SchemaOutline } from './schema-outline.ts';

// Imports no code, because clients load this file only when a server rejects their schema.

export interface SchemaDifference {
  readonly table: string;
  /** Null for the table as a whole. */
  readonly column: string | null;
  /** The side that lacks it; `both` if it is declared differently. */
  readonly side: 'client' | 'server' | 'both';
  readonly problem: string;
}

/** Reads an outline and checks all of it. Null if the text is not an outline. */
export function decodeOutline(text: unknown): SchemaOutline | null {
  if (typeof text !== 'string' || text === '') return null;
  try {
    const outline = JSON.parse(text) as unknown;
    if (!isRecord(outline)) return null;
    const tables = Object.values(outline);
    return tables.every(
      (table) =>
        isRecord(table) &&
        isRecord(table['declared']) &&
        isRecord(table['columns']) &&
        Object.values(table['columns']).every(isRecord),
    )
      ? (outline as unknown as SchemaOutline)
      : null;
  } catch {
    return null;
  }
}

/**
 * Returns all differences. Those that prevent the server from serving a client come first: parts that the server lacks,
 * then different declarations, then parts that the client lacks.
 */
export function outlineDifferences(client: SchemaOutline, server: SchemaOutline): SchemaDifference[] {
  const found: SchemaDifference[] = [];
  const differs = (table: string, column: string | null, side: SchemaDifference['side'], problem: string): void =>
    void found.push({ table, column, side, problem });
  for (const table of namesOf(client, server)) {
    const [mine, theirs] = [own(client, table), own(server, table)];
    if (mine === undefined || theirs === undefined) {
      differs(table, null, mine === undefined ? 'client' : 'server', 'the table is missing');
      continue;
    }
    const before = found.length;
    for (const column of namesOf(mine.columns, theirs.columns)) {
      const [here, there] = [own(mine.columns, column), own(theirs.columns, column)];
      if (here === undefined || there === undefined)
        differs(table, column, here === undefined ? 'client' : 'server', 'the column is missing');
      else for (const what of unlike(here, there)) differs(table, column, 'both', `${what}: declared differently`);
    }
    // The merge rule of a column is part of the digests of both the column and its table; only the column is reported.
    for (const what of unlike(mine.declared, theirs.declared))
      if (what !== 'merge rules' || found.length === before)
        differs(table, null, 'both', `${what}: declared differently`);
  }
  const order = ['server', 'both', 'client'];
  return found.sort((a, b) => order.indexOf(a.side) - order.indexOf(b.side));
}

function unlike(mine: Declarations, theirs: Declarations): string[] {
  return namesOf(mine, theirs).filter((what) => own(mine, what) !== own(theirs, what));
}

function namesOf(mine: object, theirs: object): string[] {
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].sort();
}

/** A table can be named `constructor`. */
function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
