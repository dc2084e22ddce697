import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writePastDatabase } from '../history/write-past-database.ts';
import { copyDatabase } from '../store/copy-database.ts';
import { throwIfProblems } from './read-values.ts';

/**
 * Exports a database file in its current or a past state. The file has its name only once it is complete, so that a
 * command that is killed leaves nothing that looks like an export. Returns the line to print.
 */
export function exportFile(path: string, file: string, databaseId: string, atMs: number | null): string {
  const partial = partialPath(file);
  try {
    const line = write(path, partial, { file, databaseId, atMs });
    renameSync(partial, file);
    return line;
  } finally {
    rmSync(partial, { force: true });
  }
}

/**
 * The name of an export that is not complete. It is random: what a killed command has left does not stop the next one,
 * and two commands do not write to one file.
 */
export function partialPath(file: string): string {
  return `${file}.${randomUUID()}.partial`;
}

/** Throws `config-invalid` if an export cannot write to the file, before anything is copied. */
export function refuseOverwrite(file: string): void {
  if (!existsSync(dirname(file))) throwIfProblems([`${dirname(file)} does not exist`]);
  if (existsSync(file)) throwIfProblems([`${file} already exists`]);
}

function write(
  path: string,
  partial: string,
  { file, databaseId, atMs }: { readonly file: string; readonly databaseId: string; readonly atMs: number | null },
): string {
  if (atMs === null) {
    copyDatabase(path, partial);
    return `exported ${databaseId} to ${file}`;
  }
  const { receivedMs } = writePastDatabase(path, partial, { moment: { timeMs: atMs }, nowMs: Date.now() });
  return `exported ${databaseId} with every change up to ${new Date(receivedMs).toISOString()} to ${file}; import it under a new id`;
}
