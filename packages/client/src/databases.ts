import { RockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import type { PersistenceChoice } from './rpc/persistence.ts';
import type { DatabaseInfo, WorkerApi } from './rpc/worker-api.ts';
import { startWorker } from './tab/start-worker.ts';
import { connectWorker } from './tab/worker-connection.ts';

// What can be done with the databases of this device while they are closed. Each call has a worker of its own: only
// workers may open files.

/** The databases of this origin on this device, by name. */
export async function listDatabases(): Promise<DatabaseInfo[]> {
  return [...(await inWorker((worker) => worker.listDatabases()))];
}

/**
 * Deletes a database from this device, with everything that was not sent. Rejects with `storage-busy` while a tab has
 * it open. One that is not there is deleted already.
 */
export function deleteDatabase(name: string): Promise<void> {
  return inWorker((worker) => worker.deleteDatabase(name));
}

/**
 * Moves a database that cannot be opened any more out of the way, with all that it is, and resolves to the name that it
 * is kept under: `budget.corrupt-1`. Under its own name a new one can then be opened, or a backup restored. Rejects
 * with `storage-missing`, and with `storage-busy` while a tab has it open.
 */
export function quarantineDatabase(name: string): Promise<string> {
  return inWorker((worker) => worker.quarantineDatabase(name));
}

/**
 * All that is committed as one plain SQLite file. Rejects with `storage-missing`, and on storage for one opener at a
 * time with `storage-busy` while it is open: then any of its clients makes it, by `client.backup()`.
 */
export function backupDatabase(name: string): Promise<Blob> {
  return inWorker((worker) => worker.backupDatabase(name));
}

export interface RestoreOptions {
  /** As for `createClient`. Default `durable`. */
  readonly persistence?: PersistenceChoice;
}

/**
 * Puts a backup in the place of the database of this name, whole or not at all. It goes on as a device of its own:
 * before it sends anything it gets a new site id, so that it may live beside the one it was copied from, and what that
 * one has sent since is not sent twice.
 *
 * Rejects with `storage-corrupt` and `schema-incompatible` for what is no database of Rockpool's, with `storage-busy`
 * while a tab has the database open, with `storage-full`.
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
