import {
  keyColumns,
  quoteName,
  syncedTables,
  type ForeignKeySchema,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { SqlValue } from '../rpc/sql-value.ts';
import type { ChangedRow } from './changed-rows.ts';
import { deletedInBranch, type Decide, type PlannedMerge, type PlannedRow } from './plan-merge.ts';
import { keyText, readRows, rowName, type Query, type RowImage } from './row-image.ts';

/** Small enough that keys of several columns stay far below SQLite's limit of parameters. */
const ROWS_PER_QUERY = 100;

/** A row of the origin that refers to a row that the merge deletes. */
interface Dependent {
  readonly table: TableSchema;
  readonly key: readonly SqlValue[];
  readonly image: RowImage;
  readonly foreignKey: ForeignKeySchema;
}

export interface DependentRowsParts {
  readonly query: Query;
  readonly schema: Schema;
  readonly changed: readonly ChangedRow[];
  readonly decide: Decide;
}

/**
 * Completes a plan with the rows that its deletes affect through a foreign key: `ON DELETE CASCADE`, `SET NULL` or `SET
 * DEFAULT`. A delete is a conflict if it affects rows that the branch did not have. If the decision about a conflict
 * keeps a row, the rows that it refers to are kept too.
 */
export async function withDependentRows(plan: PlannedMerge, parts: DependentRowsParts): Promise<PlannedMerge> {
  const { changed, decide } = parts;
  const deletedByBranch = new Set(changed.filter(({ ours }) => ours === null).map(rowName));
  const conflicts = [...plan.conflicts];
  const accepted = new Set(conflicts.map(({ table, key }) => rowName({ table: { name: table }, key })));
  const dependents = new DependentRows(parts);
  const kept = new Set<string>();
  const isKept = (dependent: Dependent): boolean => {
    const name = rowName(dependent);
    return kept.has(name) || deletedByBranch.has(name);
  };
  // A kept row changes which other rows may be deleted, so the plan is completed again without the delete of that row.
  for (;;) {
    const planned = new Map(plan.rows.filter((row) => !kept.has(rowName(row))).map((row) => [rowName(row), row]));
    const before = kept.size;
    let deletes = [...planned.values()].filter(isDelete);
    while (deletes.length > 0 && kept.size === before) {
      await dependents.load(deletes);
      const more: PlannedRow[] = [];
      for (const row of deletes) {
        const name = rowName(row);
        const affected = dependents.of(row).filter((dependent) => refersAfter(dependent, row, planned));
        if (affected.length === 0) continue;
        if (!accepted.has(name) && !affected.some(isKept)) {
          const conflict = deletedInBranch(row);
          conflicts.push(conflict);
          if (decide(conflict) === 'branch') accepted.add(name);
        }
        if (affected.some(isKept) || !accepted.has(name)) {
          kept.add(name);
          break;
        }
        for (const dependent of affected) {
          const dependentName = rowName(dependent);
          const next = withoutParent(dependent, planned.get(dependentName));
          if (next === null) continue;
          planned.set(dependentName, next);
          if (!isDelete(next)) continue;
          // The decision about its parent also decides about this row.
          accepted.add(dependentName);
          more.push(next);
        }
      }
      deletes = more;
    }
    if (kept.size === before) return { rows: [...planned.values()], conflicts };
  }
}

function isDelete({ theirs, merged }: PlannedRow): boolean {
  return merged === null && theirs !== null;
}

/** Whether the dependent row still refers to a deleted row after the other planned rows are written. */
function refersAfter(
  { table, key, image, foreignKey }: Dependent,
  parent: PlannedRow,
  planned: ReadonlyMap<string, PlannedRow>,
): boolean {
  const written = planned.get(rowName({ table, key }));
  const after = written === undefined ? image : written.merged;
  if (after === null) return false;
  const row = { table, key, image: after };
  return valuesText(row, foreignKey.columns) === parentText(parent, foreignKey);
}

/** The row after the foreign key's action for its deleted parent; null if SQLite computes the new values. */
function withoutParent(
  { table, key, image, foreignKey }: Dependent,
  written: PlannedRow | undefined,
): PlannedRow | null {
  const { columns, onDelete } = foreignKey;
  const theirs = written?.theirs ?? image;
  if (onDelete === 'cascade') return { table, key, theirs, merged: null };
  if (onDelete === 'set default' || columns.some((column) => table.primaryKey.includes(column))) return null;
  const merged = new Map(written?.merged ?? image);
  for (const column of columns) merged.set(column, null);
  return { table, key, theirs, merged };
}

class DependentRows {
  private readonly query: Query;
  private readonly schema: Schema;
  /** The rows that refer to a deleted row, by the name of the deleted row. */
  private readonly loaded = new Map<string, Dependent[]>();

  constructor({ query, schema }: Pick<DependentRowsParts, 'query' | 'schema'>) {
    this.query = query;
    this.schema = schema;
  }

  of(row: PlannedRow): readonly Dependent[] {
    return this.loaded.get(rowName(row)) ?? [];
  }

  async load(deletes: readonly PlannedRow[]): Promise<void> {
    const unknown = deletes.filter((row) => !this.loaded.has(rowName(row)));
    for (const row of unknown) this.loaded.set(rowName(row), []);
    for (const table of syncedTables(this.schema))
      for (const foreignKey of table.foreignKeys) {
        if (foreignKey.onDelete === 'no action' || foreignKey.onDelete === 'restrict') continue;
        const parents = unknown.filter((row) => row.table.name === foreignKey.foreignTable);
        for (let at = 0; at < parents.length; at += ROWS_PER_QUERY)
          await this.loadChunk(table, foreignKey, parents.slice(at, at + ROWS_PER_QUERY));
      }
  }

  private async loadChunk(
    table: TableSchema,
    foreignKey: ForeignKeySchema,
    parents: readonly PlannedRow[],
  ): Promise<void> {
    const names = keyColumns(table).map(({ name }) => name);
    const tuple = `(${foreignKey.columns.map(() => '?').join(', ')})`;
    const found = await this.query({
      sql: `SELECT ${names.map(quoteName).join(', ')} FROM ${quoteName(table.name)} WHERE (${foreignKey.columns.map(quoteName).join(', ')}) IN (VALUES ${parents.map(() => tuple).join(', ')})`,
      params: parents.flatMap((row) => parentValues(row, foreignKey)),
    });
    const keys = found.map((row) => names.map((name) => row[name] as SqlValue));
    const images = await readRows(this.query, table, keys);
    const byText = new Map(parents.map((row) => [parentText(row, foreignKey), row]));
    for (const key of keys) {
      const image = images.get(keyText(key)) ?? null;
      const parent = byText.get(valuesText({ table, key, image }, foreignKey.columns));
      if (parent !== undefined) this.loaded.get(rowName(parent))?.push({ table, key, image, foreignKey });
    }
  }
}

interface RowOfTable {
  readonly table: TableSchema;
  readonly key: readonly SqlValue[];
  readonly image: RowImage;
}

function parentValues({ table, key, theirs }: PlannedRow, { foreignColumns }: ForeignKeySchema): SqlValue[] {
  return valuesOf({ table, key, image: theirs }, foreignColumns);
}

function parentText(parent: PlannedRow, foreignKey: ForeignKeySchema): string {
  return keyText(parentValues(parent, foreignKey));
}

function valuesText(row: RowOfTable, columns: readonly string[]): string {
  return keyText(valuesOf(row, columns));
}

function valuesOf({ table, key, image }: RowOfTable, columns: readonly string[]): SqlValue[] {
  return columns.map((column) => {
    const part = table.primaryKey.indexOf(column);
    return part < 0 ? (image?.get(column) ?? null) : (key[part] ?? null);
  });
}
