import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import { deleteDatabase } from './databases.ts';
import { openClient } from './open-client.ts';
import { startWorker } from './tab/start-worker.ts';
import { connectWorker } from './tab/worker-connection.ts';

/**
 * Opens the database `name` of this origin and resolves when reading and writing work. Waits for the network only
 * during a first sync that `sync.firstSync` requests.
 *
 * Rejects with a `RockpoolError`:
 * - `config-invalid`: the options have problems
 * - `worker-unavailable`: there are no web workers, as in Node, where `createClient` of `@rockpool/client/node` works
 * - `worker-unloadable`: the worker's script is missing or blocked; the fields name its address and the reason
 * - `code-unloadable`: a file with code for this database failed to load; `part` names it. For `sqlite`, `problem` is
 *   the browser's message, for example that a Content-Security-Policy forbids WebAssembly
 * - `opening-stalled`: the browser, or the server of the app's code, does not respond; `stage` names it
 * - `storage-unsupported`: the browser lacks what `persistence` needs; the fields name it
 * - `storage-ephemeral`: this window discards what it stores, as private windows do; only `persistence: 'memory'` works
 * - `storage-busy`: another tab holds the database and has shown no progress for 75 s
 * - `tab-outdated`: another tab runs a newer version of the app
 * - `schema-incompatible`: the stored data does not fit the schema
 * - `database-newer`: a newer version of Rockpool wrote the database; it is left unchanged
 * - `database-mismatch`: the database belongs to a server database other than `sync.databaseId`, or a tab has it open
 *   for a different one
 * - `tab-options-differ`: a tab has the database open with a different `sync.url`, `sync.principal` or `durability`, or
 *   only one of the two tabs uses `sync`
 * - `other-principal`: the database has pending changes of another user
 * - `migration-failed`: a migration failed, with the reason; the database is unchanged
 * - `storage-full` and other storage errors
 * - `storage-corrupt`: the database is damaged. It is left unchanged; `quarantineDatabase` moves it out of the way.
 *   With `sync`, Rockpool quarantines it itself: opening succeeds with a new database and `onError` receives the error
 */
export function createClient(options: ClientOptions): Promise<Client> {
  return openClient(options, {
    connect: (onProblem) => connectWorker(startWorker(), onProblem),
    page: () => ({ window, document }),
    // A database in memory ends with its worker. A durable database may have the same name.
    async deleteDatabase(name) {
      if (options.persistence !== 'memory') await deleteDatabase(name);
    },
  });
}
