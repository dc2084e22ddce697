import { valueColumns, type BeforeGroup, type TableSchema } from '@rockpool/shared';
import type { DecodedChangeset } from '../changelog/decoded-changeset.ts';

/** The ids of each table's value columns, by table id. */
export function columnIdsByTable(
  tablesById: ReadonlyMap<number, TableSchema>,
): ReadonlyMap<number, ReadonlySet<number>> {
  return new Map([...tablesById].map(([id, table]) => [id, new Set(valueColumns(table).map((column) => column.id))]));
}

/**
 * The part of a changeset that concerns existing tables and columns. Returns the same object if nothing is omitted.
 *
 * Migrations drop a table or column only when no pending changeset names it. After a server restore, however, an
 * acknowledged changeset may be pending again. It is still sent as it was written.
 */
export function withinSchema(
  changeset: DecodedChangeset,
  columnsById: ReadonlyMap<number, ReadonlySet<number>>,
): DecodedChangeset {
  const { groups, before } = changeset;
  const isKnown = groups.every(({ tableId, columnIds }, index) => {
    const known = columnsById.get(tableId);
    return (
      known !== undefined &&
      [...columnIds, ...(before[index]?.columnIds ?? [])].every((columnId) => known.has(columnId))
    );
  });
  if (isKnown) return changeset;
  const kept = groups.flatMap((group, index) => {
    const known = columnsById.get(group.tableId);
    return known === undefined
      ? []
      : [{ group: { ...group, ...columnsWithin(group, known) }, old: columnsWithin(before[index] ?? NOTHING, known) }];
  });
  return { ...changeset, groups: kept.map(({ group }) => group), before: kept.map(({ old }) => old) };
}

const NOTHING: BeforeGroup = { columnIds: [], values: [] };

function columnsWithin({ columnIds, values }: BeforeGroup, known: ReadonlySet<number>): BeforeGroup {
  const isKept = (_: unknown, index: number): boolean => known.has(columnIds[index] as number);
  return { columnIds: columnIds.filter(isKept), values: values.filter(isKept) };
}
