import {
  decodeSchema,
  encodeSchema,
  POLICY_DECLARATIONS,
  SYSTEM_TABLES,
  syncedTables,
  valueColumns,
  type ChangeGroup,
  type MergeRules,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import { schemaAdditions } from './schema-additions.ts';

/** The part of a schema that older clients have: the value columns of each table, by id. */
export type SchemaView = ReadonlyMap<number, ReadonlySet<number>>;

/**
 * How a client of `older` sees the tables of `newer`. Null if it cannot continue unchanged: everything in its schema
 * must still exist, and must be decided and merged in the same way.
 */
export function schemaView(olderSchema: Schema, newerSchema: Schema): SchemaView | null {
  const [older, newer] = [roundTrip(olderSchema), roundTrip(newerSchema)];
  try {
    schemaAdditions(older, newer);
  } catch {
    return null;
  }
  const tables = new Map(syncedTables(newer).map((table) => [table.name, table]));
  if (!syncedTables(older).every((table) => mergesAlike(table, tables.get(table.name)?.merge))) return null;
  return new Map(
    [...SYSTEM_TABLES, ...syncedTables(older)].map((table) => [
      table.id,
      new Set(valueColumns(table).map(({ id }) => id)),
    ]),
  );
}

/**
 * Round-trips a schema through its file format, so that the members of its rules have the same order however it was
 * built.
 */
function roundTrip(schema: Schema): Schema {
  return decodeSchema(encodeSchema(schema));
}

/** New parts may have any rule; existing parts keep theirs. */
function mergesAlike({ columns, merge: old }: TableSchema, now: MergeRules | undefined): boolean {
  if (now === undefined) return false;
  return (
    old.deleteRule === now.deleteRule &&
    columns.every(({ name }) =>
      POLICY_DECLARATIONS.every(
        ({ ruleOf }) => JSON.stringify(ruleOf(old, name)) === JSON.stringify(ruleOf(now, name)),
      ),
    )
  );
}

/**
 * The part of a delivery for which a client has columns. The rest stays on the server for newer versions of the client.
 */
export function viewGroups(groups: readonly ChangeGroup[], view: SchemaView): ChangeGroup[] {
  return groups.flatMap((group) => {
    const known = view.get(group.tableId);
    if (known === undefined) return [];
    const kept = group.columnIds.flatMap((columnId, at) => (known.has(columnId) ? [at] : []));
    if (kept.length === group.columnIds.length) return [group];
    if (group.kind === 'update' && kept.length === 0) return [];
    return [
      {
        ...group,
        columnIds: kept.map((at) => group.columnIds[at] as number),
        values: kept.map((at) => group.values[at] as ChangeGroup['values'][number]),
      },
    ];
  });
}
