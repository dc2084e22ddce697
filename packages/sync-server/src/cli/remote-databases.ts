import { createHash } from 'node:crypto';
import { createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { partialPath, refuseOverwrite } from './export-file.ts';
import { namedEntry } from './named-entry.ts';
import { patientRequest } from './patient-request.ts';
import { throwIfProblems } from './read-values.ts';

/** The admin API of a running server. */
export interface RemoteServer {
  /** For example `http://127.0.0.1:4001`. */
  readonly url: string;
  readonly token: string;
}

interface Action {
  readonly databaseId: string;
  /** The path of the file. For a restore: the id of the other database. */
  readonly file: string;
  /** For a restore: the time to restore. */
  readonly atMs: number | null;
  /** The id or the identity of the database, repeated as confirmation. */
  readonly confirm: string;
  readonly print: (line: string) => void;
}

type RemoteAction = (server: RemoteServer, action: Action) => Promise<void>;

interface ListedDatabase {
  readonly id: string;
  readonly state: string;
  readonly sizeBytes: number | null;
  readonly sessions: number;
  readonly watermark: number | null;
}

const PAGE = 1_000;

export const REMOTE_ACTIONS: Readonly<Record<string, RemoteAction>> = {
  list: async (server, { print }) => {
    for (let after: string | null = ''; after !== null;) {
      const page = (await ask(server, 'GET', `databases?limit=${PAGE}&after=${after}`)) as {
        readonly databases: readonly ListedDatabase[];
        readonly next: string | null;
      } | null;
      // Another program, which answers every path.
      if (!Array.isArray(page?.databases)) return throwIfProblems([`${server.url} has no admin API`]);
      for (const { id, state, sizeBytes, sessions, watermark } of page.databases)
        print(`${id}\t${state}\t${sizeBytes ?? '-'} bytes\t${sessions} sessions\twatermark ${watermark ?? '-'}`);
      after = page.next;
    }
  },
  inspect: async (server, { databaseId, print }) =>
    print(JSON.stringify(await ask(server, 'GET', `databases/${databaseId}`), null, 2)),
  create: async (server, { databaseId, print }) => {
    await ask(server, 'PUT', `databases/${databaseId}`);
    print(`created ${databaseId}`);
  },
  export: exportTo,
  import: async (server, { databaseId, file, print }) => {
    await ask(server, 'POST', `databases/${databaseId}/import`, readable(file));
    print(`imported ${file} as ${databaseId}`);
  },
  restore: async (server, { databaseId, file: from, atMs, print }) => {
    const path = `databases/${databaseId}/restore?from=${from}&at=${atMs ?? ''}`;
    const { receivedMs } = (await ask(server, 'POST', path)) as { receivedMs: number };
    print(`created ${databaseId} with every change of ${from} up to ${new Date(receivedMs).toISOString()}`);
  },
  replace: async (server, { databaseId, file, confirm, print }) => {
    const path = `databases/${databaseId}/replace?confirm=${encodeURIComponent(confirm)}`;
    const { kept } = (await ask(server, 'POST', path, readable(file))) as { kept: string | null };
    print(`replaced ${databaseId} with ${file}${kept === null ? '' : `; the old file is ${kept}`}`);
  },
  delete: async (server, { databaseId, confirm, print }) => {
    await ask(server, 'DELETE', `databases/${databaseId}?confirm=${encodeURIComponent(confirm)}`);
    print(`deleted ${databaseId}`);
  },
  close: async (server, { databaseId, print }) => {
    await ask(server, 'POST', `databases/${databaseId}/close`);
    print(`closed ${databaseId}`);
  },
  drain: async (server, { databaseId, print }) => {
    await ask(server, 'POST', `databases/${databaseId}/drain`);
    print(`drained ${databaseId}; its clients are kept out until it is opened`);
  },
  open: async (server, { databaseId, print }) => {
    await ask(server, 'POST', `databases/${databaseId}/open`);
    print(`opened ${databaseId}`);
  },
};

/** Runs an action of `databases` on a running server: one of REMOTE_ACTIONS. */
export async function runOnServer(server: RemoteServer, action: string, request: Action): Promise<void> {
  await namedEntry(REMOTE_ACTIONS, action)?.(server, request);
}

/** Writes the file under a temporary name until its hash is checked. */
async function exportTo(server: RemoteServer, { databaseId, file, print }: Action): Promise<void> {
  refuseOverwrite(file);
  const response = await send(server, 'GET', `databases/${databaseId}/export`);
  const partial = partialPath(file);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform: (chunk: Uint8Array, _, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(response, hashing, createWriteStream(partial, { flags: 'wx' }));
    if (hash.digest('hex') !== response.headers['rockpool-sha256'])
      throwIfProblems([`${file}: the download is damaged; try again`]);
    renameSync(partial, file);
  } catch (error) {
    throw error === response.errored ? unreachable(error) : error;
  } finally {
    rmSync(partial, { force: true });
  }
  print(`exported ${databaseId} to ${file}`);
}

function readable(file: string): string {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throwIfProblems([`${file} cannot be read`]);
  return file;
}

/** Returns the JSON of the server's response, or null if it has no body. Throws like `send`. */
async function ask(server: RemoteServer, method: string, path: string, file?: string): Promise<unknown> {
  const body = await text(await send(server, method, path, file)).catch((error: unknown) => {
    throw unreachable(error);
  });
  try {
    return body === '' ? null : JSON.parse(body);
  } catch {
    // Another program, which answers every path with its page.
    return throwIfProblems([`${server.url} has no admin API`]);
  }
}

/**
 * `file` is the path of the body. Throws the error of the server's response or of the file, or `network-unreachable`.
 */
async function send(
  { url, token }: RemoteServer,
  method: string,
  path: string,
  file?: string,
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await patientRequest(`${url.replace(/\/+$/, '')}/admin/api/${path}`, {
    method,
    headers,
    file,
  }).catch((error: unknown) => {
    throw file !== undefined && (error as NodeJS.ErrnoException).path === file ? error : unreachable(error);
  });
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status < 300) return response;
  const data = await text(response)
    .then((body) => JSON.parse(body) as ErrorData | null)
    .catch(() => null);
  if (data === null) throwIfProblems([`${url} has no admin API (status ${status})`]);
  const error = RockpoolError.fromData(data ?? { code: 'internal' });
  if (error.code === 'request-invalid' && typeof error.fields['problem'] === 'string')
    throwIfProblems([error.fields['problem']]);
  throw error;
}

function unreachable(cause: unknown): RockpoolError {
  return new RockpoolError('network-unreachable', {}, { cause });
}
