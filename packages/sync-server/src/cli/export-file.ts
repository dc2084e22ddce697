import { writePastDatabase } from '../history/write-past-database.ts';
import { copyDatabase } from '../store/copy-database.ts';

/** Exports a database file in its current or a past state. Returns the line to print. */
export function exportFile(path: string, file: string, databaseId: string, atMs: number | null): string {
  if (atMs === null) {
    copyDatabase(path, file);
    return `exported ${databaseId} to ${file}`;
  }
  const { receivedMs } = writePastDatabase(path, file, { moment: { timeMs: atMs }, nowMs: Date.now() });
  return `exported ${databaseId} with every change up to ${new Date(receivedMs).toISOString()} to ${file}; import it under a new id`;
}
