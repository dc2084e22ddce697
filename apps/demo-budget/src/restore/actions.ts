import type { SqlStatement } from '@rockpool/client';
import { schema } from '../schema.ts';
import type { Writer } from '../writer.ts';
import type { SavedBudget, SavedRow } from './saved-budget.ts';

/** Rows per transaction, as for an import. */
const rowsPerTransaction = 500;

export interface RestoreProgress {
  readonly writtenCount: number;
  readonly totalCount: number;
}

/** Writes all saved rows into an empty budget. Rows keep their ids, and referenced rows come first. */
export async function restoreRows(
  writer: Writer,
  saved: SavedBudget,
  onProgress: (progress: RestoreProgress) => void = () => {},
): Promise<void> {
  const statements = tablesInOrder().flatMap((table) => (saved.get(table) ?? []).map((row) => insert(table, row)));
  for (let from = 0; from < statements.length; from += rowsPerTransaction) {
    await writer.batch(statements.slice(from, from + rowsPerTransaction));
    onProgress({ writtenCount: Math.min(from + rowsPerTransaction, statements.length), totalCount: statements.length });
  }
}

function insert(table: string, row: SavedRow): SqlStatement {
  const columns = Object.keys(row);
  return {
    sql: `INSERT INTO "${table}" (${columns.map((column) => `"${column}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    params: Object.values(row),
  };
}

/** Each table after the tables it references. */
function tablesInOrder(): string[] {
  const ordered: string[] = [];
  const place = (name: string): void => {
    if (ordered.includes(name)) return;
    for (const { foreignTable } of schema.tables.find((table) => table.name === name)?.foreignKeys ?? [])
      if (foreignTable !== name) place(foreignTable);
    ordered.push(name);
  };
  for (const { name } of schema.tables) place(name);
  return ordered;
}
