import { RockpoolError } from '@rockpool/shared';
import type { SessionFacts } from '../session/devices.ts';
import type { DatabaseOutline } from '../store/database-outline.ts';
import type { AboutServer, AdminRoute, AdminServices } from './admin-route.ts';
import { databaseState, type DatabaseState } from './database-state.ts';

/** A line of the list. */
export interface ListedDatabase extends DatabaseOutline {
  readonly id: string;
  readonly state: DatabaseState;
  readonly sessions: number;
  /** The lag of the slowest session, in changesets. Null if no session has confirmed anything. */
  readonly lag: number | null;
  /** The number of stored roles, without revoked ones. */
  readonly members: number;
  /** The number of devices that have no session because their last one ended with an error. */
  readonly blockedDevices: number;
  /** The state of the continuous backup. Null if the database is not backed up. */
  readonly copied: {
    readonly watermark: number | null;
    /** Time of the newest commit in the copy, ms since 1970. */
    readonly timeMs: number;
  } | null;
}

export interface DatabaseList {
  readonly server: AboutServer;
  /** The number of databases that match the filter, on all pages. */
  readonly total: number;
  readonly databases: readonly ListedDatabase[];
  /** Null if this is the last page. */
  readonly next: string | null;
}

const UNREAD: DatabaseOutline = { sizeBytes: null, watermark: null, lastWriteMs: null, damage: null, unloadedMs: null };

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/**
 * Lists databases by id: `{ server, total, databases, next }`. `?contains=` filters by a part of the id, `?after=` and
 * `?limit=` (100, at most 1,000) read the next page, whose `after` is `next`.
 */
export const listDatabases: AdminRoute = {
  method: 'GET',
  path: '/databases',
  answer: async ({ services, request, note }) => {
    const query = new URL(request.url).searchParams;
    const limit = readLimit(query.get('limit'));
    const after = query.get('after') ?? '';
    const contains = query.get('contains') ?? '';
    const ids = (await services.store.list()).filter((id) => id.includes(contains));
    const page = ids.filter((id) => id > after).slice(0, limit);
    const sessions = sessionsByDatabase(services.sessions());
    const databases: ListedDatabase[] = [];
    for (const id of page) {
      // Reading an outline takes about a millisecond of this thread, so it alternates with other work.
      await new Promise((resolve) => setImmediate(resolve));
      databases.push(await listed(id, sessions.get(id) ?? [], services));
    }
    note({ databases: databases.length });
    const last = page.at(-1);
    const list: DatabaseList = {
      server: services.about,
      total: ids.length,
      databases,
      next: last !== undefined && last !== ids.at(-1) ? last : null,
    };
    return Response.json(list);
  },
};

async function listed(id: string, sessions: readonly SessionFacts[], services: AdminServices): Promise<ListedDatabase> {
  const operation = services.lifecycle.operationOf(id);
  // Reads no file while an operation changes it.
  const outline =
    operation === null || operation === 'reading' || operation === 'draining'
      ? await services.store.outline(id)
      : UNREAD;
  const confirmed = sessions.flatMap(({ confirmedCursor }) => confirmedCursor ?? []);
  const online = new Set(sessions.map(({ site }) => site));
  return {
    id,
    state: databaseState(outline, operation),
    ...outline,
    sessions: sessions.length,
    lag:
      outline.watermark === null || confirmed.length === 0
        ? null
        : Math.max(0, outline.watermark - Math.min(...confirmed)),
    members: services.members.list(id).filter(({ role }) => role !== null).length,
    blockedDevices: services.devices.of(id).filter(({ site, error }) => error !== null && !online.has(site)).length,
    copied: copiedOf(id, services),
  };
}

function copiedOf(id: string, { copyFacts }: AdminServices): ListedDatabase['copied'] {
  const facts = copyFacts(id);
  return facts === null ? null : { watermark: facts.watermark, timeMs: facts.timeMs };
}

function sessionsByDatabase(sessions: readonly SessionFacts[]): Map<string, SessionFacts[]> {
  const byDatabase = new Map<string, SessionFacts[]>();
  for (const session of sessions) {
    const others = byDatabase.get(session.databaseId);
    if (others === undefined) byDatabase.set(session.databaseId, [session]);
    else others.push(session);
  }
  return byDatabase;
}

function readLimit(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT)
    throw new RockpoolError('request-invalid', { problem: `\`limit\` must be a number from 1 to ${MAX_LIMIT}` });
  return limit;
}
