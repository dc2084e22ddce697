import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { RockpoolError } from '@rockpool/shared';
import { isDatabaseId } from '../auth/gate.ts';
import { parseTime, TIME_FORM } from '../history/parse-time.ts';
import type { AdminRequest, AdminRoute } from './admin-route.ts';

/** Creates an empty database. 409 if it exists. */
export const createDatabase: AdminRoute = {
  method: 'PUT',
  path: '/databases/:databaseId',
  answer: async ({ services, databaseId }) => {
    await services.lifecycle.create(databaseId);
    return new Response(null, { status: 201 });
  },
};

/**
 * Deletes a database and its members. `?confirm=` repeats its id or its identity. If a client later creates the id
 * again, the old clients are rejected with `database-mismatch`.
 */
export const deleteDatabase: AdminRoute = {
  method: 'DELETE',
  path: '/databases/:databaseId',
  answer: async ({ services, databaseId, request, note }) => {
    const watermark = await services.lifecycle.delete(databaseId, confirmationOf(request));
    note({ did: 'deleted', watermark });
    return Response.json({ watermark });
  },
};

/** Ends the sessions of a database and closes its file. Its clients reconnect automatically. */
export const closeDatabase: AdminRoute = {
  method: 'POST',
  path: '/databases/:databaseId/close',
  answer: (asked) => ended(asked, 'closed', () => asked.services.lifecycle.close(asked.databaseId)),
};

/** Closes a database and rejects its clients until it is opened or the server restarts. */
export const drainDatabase: AdminRoute = {
  method: 'POST',
  path: '/databases/:databaseId/drain',
  answer: (asked) => ended(asked, 'drained', () => asked.services.lifecycle.drain(asked.databaseId)),
};

/** Lets the clients of a drained database in again. */
export const openDatabase: AdminRoute = {
  method: 'POST',
  path: '/databases/:databaseId/open',
  answer: async ({ services, databaseId, note }) => {
    await services.lifecycle.open(databaseId);
    note({ did: 'opened' });
    return new Response(null, { status: 204 });
  },
};

/** Sends a copy of a database at one moment, as a SQLite file. The header `rockpool-sha256` has its hash. */
export const exportDatabase: AdminRoute = {
  method: 'GET',
  path: '/databases/:databaseId/export',
  answer: async ({ services, databaseId, note }) => {
    const { path, sizeBytes, sha256 } = await services.lifecycle.export(databaseId);
    note({ did: 'exported', sizeBytes });
    const file = createReadStream(path);
    // Runs even if the client disconnects.
    file.once('close', () => void rm(path, { force: true }));
    return new Response(Readable.toWeb(file) as ReadableStream<Uint8Array>, {
      headers: {
        'content-type': 'application/vnd.sqlite3',
        'content-length': String(sizeBytes),
        'content-disposition': `attachment; filename="${databaseId}.sqlite"`,
        'rockpool-sha256': sha256,
      },
    });
  },
};

/** Adds the database of the SQLite file in the body. 409 if the database exists. */
export const importDatabase: AdminRoute = {
  method: 'POST',
  path: '/databases/:databaseId/import',
  answer: async ({ services, databaseId, request, note }) => {
    const sizeBytes = await services.lifecycle.import(databaseId, request.body);
    note({ did: 'imported', sizeBytes });
    return Response.json({ sizeBytes }, { status: 201 });
  },
};

/**
 * Adds a database with the rows that the database with the id `?from=` had at the time `?at=`, an ISO date or ms since
 * 1970. Every table needs a history. 409 if the new database exists. Returns the last changeset in it.
 */
export const restoreDatabase: AdminRoute = {
  method: 'POST',
  path: '/databases/:databaseId/restore',
  answer: async ({ services, databaseId, request, note }) => {
    const { from, atMs } = sourceIn(request);
    const moment = await services.lifecycle.restore(databaseId, from, { timeMs: atMs, nowMs: services.now() });
    note({ did: 'restored', from, watermark: moment.watermark });
    return Response.json(moment, { status: 201 });
  },
};

/**
 * Adds a database with the state that the database with the id `?from=` had at the time `?at=`, from its continuous
 * backup. 409 if the new database exists. Returns the time of its newest commit and its last changeset.
 */
export const restoreBackup: AdminRoute = {
  method: 'POST',
  path: '/databases/:databaseId/restore-backup',
  answer: async ({ services, databaseId, request, note }) => {
    const { from, atMs } = sourceIn(request);
    const fetched = await services.lifecycle.restoreBackup(databaseId, from, atMs);
    note({ did: 'restored from its backup', from, watermark: fetched.watermark });
    return Response.json(fetched, { status: 201 });
  },
};

function sourceIn(request: Request): { readonly from: string; readonly atMs: number } {
  const { searchParams } = new URL(request.url);
  const from = searchParams.get('from') ?? '';
  if (!isDatabaseId(from))
    throw new RockpoolError('request-invalid', { problem: '`from` must be the id of a database' });
  return { from, atMs: timeIn(searchParams.get('at') ?? '') };
}

function timeIn(text: string): number {
  const timeMs = /^\d+$/.test(text) ? Number(text) : parseTime(text);
  if (timeMs === null || !Number.isSafeInteger(timeMs))
    throw new RockpoolError('request-invalid', {
      problem: `\`at\` must be a time ${TIME_FORM}, or milliseconds since 1970`,
    });
  return timeMs;
}

/**
 * Replaces a database with the SQLite file in the body. `?confirm=` repeats its id or its identity. Returns the name of
 * the old file, which is kept beside the new one.
 */
export const replaceDatabase: AdminRoute = {
  method: 'POST',
  path: '/databases/:databaseId/replace',
  answer: async ({ services, databaseId, request, note }) => {
    const kept = await services.lifecycle.replace(databaseId, request.body, confirmationOf(request));
    note({ did: 'replaced', kept });
    return Response.json({ kept });
  },
};

function confirmationOf(request: Request): string {
  return new URL(request.url).searchParams.get('confirm') ?? '';
}

async function ended(
  { services, databaseId, note }: AdminRequest,
  did: string,
  end: () => Promise<void>,
): Promise<Response> {
  const sessions = services.sessions().filter((session) => session.databaseId === databaseId).length;
  await end();
  note({ did, sessions });
  return Response.json({ sessions });
}
