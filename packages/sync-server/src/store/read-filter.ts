import type { ChangeGroup, SeenPresence } from '@rockpool/shared';
import { viewGroups, type SchemaView } from './schema-view.ts';

declare const readable: unique symbol;

/** Data that has passed a read filter. Encoders for clients accept nothing else. */
export type Readable<Data> = Data & { readonly [readable]: true };

/**
 * The rows and the presence of a database that a principal may read. `everything` is the only form today; partial sync
 * adds one that reads scopes (docs/decisions/0066-read-filter.md).
 */
export type ReadableRows = 'everything' | RowFilter;

export interface RowFilter {
  /** The readable rows, including those of the conflict log. Omits groups without rows. */
  readonly groups: (groups: readonly ChangeGroup[]) => readonly ChangeGroup[];
  readonly presence: (states: readonly SeenPresence[]) => readonly SeenPresence[];
}

/** What one session may read of a database. Everything that is sent to a client passes through it. */
export interface ReadFilter {
  readonly rows: ReadableRows;
  /** The tables and columns that an older client knows; null: those of the server's schema. */
  readonly schema: SchemaView | null;
}

/** The filter of a principal without restrictions whose client has the server's schema. */
export const EVERYTHING: ReadFilter = { rows: 'everything', schema: null };

/** Sessions that read everything share encoded deliveries, download snapshots and compare fingerprints. */
export function readsEverything({ rows, schema }: ReadFilter): boolean {
  return rows === 'everything' && schema === null;
}

/** Removes what the session may not read. A filter that reads everything returns the same groups without a copy. */
export function readableGroups(
  groups: readonly ChangeGroup[],
  { rows, schema }: ReadFilter,
): Readable<readonly ChangeGroup[]> {
  const ofRows = rows === 'everything' ? groups : rows.groups(groups);
  return (schema === null ? ofRows : viewGroups(ofRows, schema)) as Readable<readonly ChangeGroup[]>;
}

/** Presence belongs to no table, so the client's schema does not matter. */
export function readablePresence(
  states: readonly SeenPresence[],
  { rows }: Pick<ReadFilter, 'rows'>,
): Readable<readonly SeenPresence[]> {
  return (rows === 'everything' ? states : rows.presence(states)) as Readable<readonly SeenPresence[]>;
}
