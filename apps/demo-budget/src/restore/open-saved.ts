import { createClient, deleteDatabase, restoreDatabase, RockpoolError } from '@rockpool/client';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { newFilledBudget } from '../budget/new-budget.ts';
import { fail, succeed, type Result } from '../result.ts';
import { schema } from '../schema.ts';
import { restoreRows, type RestoreProgress } from './actions.ts';
import { readSavedJson, type SavedBudget, type SavedProblem, type SavedRow } from './saved-budget.ts';

/**
 * Opens a file of an export as a budget of its own. Its rows are written anew: it shares nothing with the budget that
 * it was saved from, which goes on as it is, on this device, on others and on the server. Rejects with what storage
 * says.
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
    // A row without what it refers to, or without what it needs: the file is not what was saved.
    if (error instanceof RockpoolError && (error.code.startsWith('constraint-') || error.code === 'document-invalid'))
      return fail('damaged');
    throw error;
  }
}

async function isSqlite(file: Blob): Promise<boolean> {
  return (await file.slice(0, 15).text()) === 'SQLite format 3';
}

/**
 * Of "SQLite database": opened for itself, without the server, under a name that nothing else has, and deleted when
 * it is read.
 */
async function readSavedSqlite(file: Blob): Promise<Result<SavedBudget, SavedProblem>> {
  const name = `saved-${crypto.randomUUID()}`;
  try {
    await restoreDatabase(name, file);
    const client = await createClient({ name, schema });
    try {
      const tables = await Promise.all(
        schema.tables.map(
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
