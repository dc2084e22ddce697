import { RockpoolError } from '@rockpool/shared';
import type { BranchDocuments } from './branch/changed-rows.ts';
import { WriteGate } from './branch/write-gate.ts';
import type { Branch, Client } from './client.ts';
import type { BranchInfo } from './interface/branch-merge.ts';
import type { ClientOptions } from './interface/client-options.ts';
import type { ClientEnvironment } from './client-session.ts';
import { branchFile, branchName, isBranchOf } from './rpc/branch-file.ts';
import { startBranch } from './start-branch.ts';
import type { WorkerConnection } from './tab/worker-connection.ts';

/** The branches of one client. */
export interface Branches {
  create(name: string): Promise<Branch>;
  open(name: string): Promise<Branch>;
  list(): Promise<BranchInfo[]>;
}

export interface BranchesParts {
  readonly origin: Client;
  /** The options of the origin. */
  readonly options: ClientOptions;
  readonly environment: ClientEnvironment;
  /** Opens a database of any name. */
  readonly openClient: (options: ClientOptions, environment: ClientEnvironment) => Promise<Client>;
  readonly loadDocuments: () => Promise<BranchDocuments>;
  /** See ClientSession. */
  readonly onProblem: (error: RockpoolError) => void;
}

/** See Client.branch. */
export function branchesOf(parts: BranchesParts): Branches {
  const { origin, environment, onProblem } = parts;

  /** Runs `body` on a new worker, and ends the worker if `body` fails. */
  async function onWorker<T>(body: (connection: WorkerConnection) => Promise<T>): Promise<T> {
    const connection = environment.connect(onProblem);
    try {
      return await body(connection);
    } catch (thrown) {
      connection.end(new RockpoolError('client-closed'));
      throw thrown;
    }
  }

  return {
    create: (branch) =>
      onWorker(async (connection) => {
        const file = branchFile(origin.name, branch);
        return oneAtATime(file, async () => {
          if (await exists(connection, file)) throw new RockpoolError('branch-exists', { branch });
          const copy = await origin.backup();
          await connection.call((worker) => worker.restoreDatabase(file, copy, origin.status.current.persistence));
          return openOn(connection, file, parts);
        });
      }),
    open: (branch) =>
      onWorker(async (connection) => {
        const file = branchFile(origin.name, branch);
        return oneAtATime(file, async () => {
          if (!(await exists(connection, file))) throw new RockpoolError('branch-missing', { branch });
          return openOn(connection, file, parts);
        });
      }),
    list: () =>
      onWorker(async (connection) => {
        const databases = await connection.call((worker) => worker.listDatabases());
        connection.end(new RockpoolError('client-closed'));
        return databases.flatMap(({ name, sizeBytes }) =>
          isBranchOf(name, origin.name) ? [{ name: branchName(name), sizeBytes }] : [],
        );
      }),
  };
}

async function exists(connection: WorkerConnection, file: string): Promise<boolean> {
  const databases = await connection.call((worker) => worker.listDatabases());
  return databases.some(({ name }) => name === file);
}

async function openOn(connection: WorkerConnection, file: string, parts: BranchesParts): Promise<Branch> {
  const { origin, options, environment, openClient, loadDocuments, onProblem } = parts;
  const { sync: _, ...local } = options;
  const gate = new WriteGate();
  let first: WorkerConnection | null = connection;
  const client = await openClient(
    { ...local, name: file, persistence: origin.status.current.persistence },
    {
      ...environment,
      // Only the worker that restored a branch in memory has the branch.
      connect(onWorkerProblem) {
        const connected = first ?? environment.connect(onWorkerProblem);
        first = null;
        return gate.around(connected);
      },
    },
  );
  try {
    const { schema } = options;
    return await startBranch({ origin, client, file, gate, environment, schema, loadDocuments, onProblem });
  } catch (thrown) {
    // An open client would replace the worker, and keep the branch from being deleted.
    await client.close().catch(() => undefined);
    throw thrown;
  }
}

/**
 * Creates and opens branches of one file one at a time: otherwise two tabs could both find the same name free, or one
 * could remove a file that the other has just begun to fill.
 */
function oneAtATime<T>(file: string, body: () => Promise<T>): Promise<T> {
  const locks = (globalThis.navigator as Navigator | undefined)?.locks;
  return locks === undefined ? body() : (locks.request(`rockpool-branch:${file}`, body) as Promise<T>);
}
