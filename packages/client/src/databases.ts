import { RockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import type { PersistenceChoice } from './rpc/persistence.ts';
import type { DatabaseInfo, WorkerApi } from './rpc/worker-api.ts';
import { startWorker } from './tab/start-worker.ts';
import { connectWorker } from './tab/worker-connection.ts';

// Operations on databases that are closed. Each call starts its own worker, because only workers can open the files.

/** Lists the databases of this origin on this device, by name. */
export async function listDatabases(): Promise<DatabaseInfo[]> {
  return [...(await inWorker((worker) => worker.listDatabases()))];
}

/**
 * Deletes a database from this device, including its pending changes. Rejects with `storage-busy` while a tab has it
 * open. Resolves if there is no such database.
 */
export function deleteDatabase(name: string): Promise<void> {
  return inWorker((worker) => worker.deleteDatabase(name));
}

/**
 * Moves a database that no longer opens out of the way, keeping all its files, and resolves with its new name, such as
 * `budget.corrupt-1`. The old name is then free for a new database or a restored backup. Rejects with
 * `storage-missing`, and with `storage-busy` while a tab has the database open.
 */
export function quarantineDatabase(name: string): Promise<string> {
  return inWorker((worker) => worker.quarantineDatabase(name));
}

/**
 * Resolves with all committed data as one plain SQLite file. Rejects with `storage-missing`. On storage that only one
 * tab can open, rejects with `storage-busy` while the database is open: use `client.backup()` instead.
 */
export function backupDatabase(name: string): Promise<Blob> {
  return inWorker((worker) => worker.backupDatabase(name));
}

export interface RestoreOptions {
  /** The same as for `createClient`. Default `durable`. */
  readonly persistence?: PersistenceChoice;
}

/**
 * Replaces the database of this name with a backup, completely or not at all. The restored database becomes a site of
 * its own: it gets a new site id before it sends anything. The original can therefore stay in use, and changes that it
 * has sent since the backup are not sent twice.
 *
 * Rejects with `storage-corrupt` or `schema-incompatible` for a file that is not a Rockpool database, with
 * `storage-busy` while a tab has the database open, and with `storage-full`.
 */
export function restoreDatabase(
  name: string,
  file: Blob,
  { persistence = 'durable' }: RestoreOptions = {},
): Promise<void> {
  return inWorker((worker) => worker.restoreDatabase(name, file, persistence));
}

async function inWorker<T>(run: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T> {
  const connection = connectWorker(startWorker(), () => undefined);
  try {
    return await connection.call(run);
  } finally {
    connection.end(new RockpoolError('client-closed'));
  }
}
