import type { Client, ClientOptions } from './client.ts';
import { deleteDatabase } from './databases.ts';
import { openClient, type ClientEnvironment } from './open-client.ts';
import { startWorker } from './tab/start-worker.ts';
import { connectWorker } from './tab/worker-connection.ts';

const PAGE: ClientEnvironment = {
  connect: (onProblem) => connectWorker(startWorker(), onProblem),
  page: () => ({ window, document }),
  deleteDatabase,
};

/**
 * Opens the database `name` of this origin and resolves when reading and writing work; it waits for the network only
 * for a first sync that `sync.firstSync` asks for.
 *
 * Rejects with a `RockpoolError`:
 * - `config-invalid`: the options have problems
 * - `worker-unavailable`: there are no web workers here, as in Node, where `createClient` of `@rockpool/client/node` is
 *   the one to use
 * - `worker-unloadable`: the worker's script could not be loaded; fields say from where, and why as far as that can be
 *   told
 * - `storage-unsupported`: the browser lacks what `persistence` needs (fields say what)
 * - `storage-ephemeral`: this window forgets what it stores, as private windows do; only `persistence: 'memory'` can be
 *   had
 * - `storage-busy`: another tab holds the database and does not answer
 * - `tab-outdated`: another tab runs a newer version of the app
 * - `schema-incompatible`: what is stored does not fit the schema
 * - `database-newer`: a newer version of Rockpool wrote it; it is left as it is
 * - `database-mismatch`: it belongs to another database of a server than `sync.databaseId`, or a tab has it open for
 *   another one
 * - `tab-options-differ`: a tab has it open with another `sync.url`, `sync.principal` or `durability`, or one of the
 *   two without `sync`
 * - `other-principal`: unsent changes of another person are in it
 * - `migration-failed`, `migration-refused`: a migration could not be carried out, and why; the database is as it was
 * - `storage-full` and others of the storage
 * - `storage-corrupt`: the database is damaged; it is left as it is, and `quarantineDatabase` moves it out of the way.
 *   With `sync` this is done by itself: opening
 *   succeeds with a new database, and `onError` is told
 */
export function createClient(options: ClientOptions): Promise<Client> {
  return openClient(options, PAGE);
}
