import { createClient, deleteDatabase, restoreDatabase, RockpoolError } from '@rockpool/client';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { newFilledBudget } from '../budget/new-budget.ts';
import { exportedTables } from '../export/exported-tables.ts';
import { fail, succeed, type Result } from '../result.ts';
import { schema } from '../schema.ts';
import { restoreRows, type RestoreProgress } from './actions.ts';
import { readSavedJson, type SavedBudget, type SavedProblem, type SavedRow } from './saved-budget.ts';

/**
 * Opens an exported file as a new budget. Its rows are written as new changes: the new budget shares nothing with the
 * original, which continues unchanged on this device, other devices and the server. Rejects with storage errors.
 */
export async function openSaved(
  file: Blob,
  onProgress: (progress: RestoreProgress) => void,
): Promise<Result<KnownBudget, SavedProblem>> {
  const saved = (await isSqlite(file)) ? await readSavedSqlite(file) : readSavedJson(await file.text());
  if (!saved.ok) return saved;
  try {
    return succeed(await newFilledBudget({}, (writer) => restoreRows(writer, saved.value, onProgress)));
  } catch (error) {
    // A row lacks a referenced row or a required value, so the file is damaged.
    if (error instanceof RockpoolError && (error.code.startsWith('constraint-') || error.code === 'document-invalid'))
      return fail('damaged');
    throw error;
  }
}

async function isSqlite(file: Blob): Promise<boolean> {
  return (await file.slice(0, 15).text()) === 'SQLite format 3';
}

/**
 * For a "SQLite database" export: opens the file by itself, without the server, under a unique name, and deletes it
 * after reading.
 */
async function readSavedSqlite(file: Blob): Promise<Result<SavedBudget, SavedProblem>> {
  const name = `saved-${crypto.randomUUID()}`;
  try {
    await restoreDatabase(name, file);
    const client = await createClient({ name, schema });
    try {
      const tables = await Promise.all(
        exportedTables.map(
          async (table) => [table.name, await client.query<SavedRow>(`SELECT * FROM "${table.name}"`)] as const,
        ),
      );
      return succeed(new Map(tables));
    } finally {
      await client.close();
    }
  } catch (error) {
    if (!(error instanceof RockpoolError)) throw error;
    if (error.code === 'storage-corrupt') return fail('damaged');
    if (error.code === 'schema-incompatible') return fail('not-a-budget');
    throw error;
  } finally {
    await deleteDatabase(name);
  }
}
