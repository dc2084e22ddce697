import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Hono } from 'hono';
import { encodeOutline, RockpoolError, type Schema } from '@rockpool/shared';
import { createApp } from './app.ts';
import { isDatabaseId } from './auth/database-id.ts';
import { Gate } from './auth/gate.ts';
import { issueToken, jwtAuthenticate, type TokenRequest, type TokenRules } from './auth/jwt.ts';
import { Members } from './auth/members.ts';
import { originProblem } from './auth/origin.ts';
import type { Authenticate, Authorize, Principal } from './auth/principal.ts';
import { secretProblem } from './auth/secret.ts';
import { toServerDatabase, type ServerDatabase } from './backend/server-database.ts';
import type { ChangesetToValidate } from './admission/validate.ts';
import { DocumentPool } from './documents/document-pool.ts';
import { DatabaseCache } from './database/database-cache.ts';
import { RETENTION, type Retention } from './log/retention.ts';
import { errorFields, logFailure, logToStderr, neverThrows, type Logger } from './observe/log-line.ts';
import { ServerMetrics } from './observe/server-metrics.ts';
import { Sockets } from './session/accept-sockets.ts';
import { SESSION_LIMITS, type SessionLimits } from './session/limits.ts';
import { HttpSessions } from './session/http-sessions.ts';
import { ConnectionQuota } from './session/connection-quota.ts';
import { Snapshots, SNAPSHOT_RULES, type Snapshot, type SnapshotRules } from './snapshot/snapshots.ts';
import { knownSchemas, schemaViews } from './store/known-schemas.ts';
import type { ReadableRows } from './store/read-filter.ts';
import { postgresStores, sqliteStores } from './store/open-stores.ts';
import { MIN_CONNECTIONS } from './postgres/connection.ts';
import { lockDirectory } from './store/directory-lock.ts';
import { damagedError } from './store/file-damage.ts';
import { Scrubber, SCRUB_TIMES, type ScrubTimes } from './store/scrub.ts';
import { verifyPages } from './store/verify-pages.ts';

export interface SyncServerOptions {
  /**
   * One SQLite file per database lies here; with `postgres` only copies of what is there. Made where it is missing; one
   * server process at a time.
   */
  readonly dataDir: string;
  /**
   * URL of a PostgreSQL database that holds everything instead, for any number of instances:
   * `postgresql://user:password@host/name`.
   */
  readonly postgres?: string;
  /** How many connections to PostgreSQL this process may have: at least 2, since one only listens. Default 16. */
  readonly postgresConnections?: number;
  /** Built by the app, read with decodeSchema. */
  readonly schema: Schema;
  /**
   * Schemas of older versions of the app whose clients still come. Those that this data directory has seen are known.
   */
  readonly olderSchemas?: readonly Schema[];
  /** Signs and checks tokens by HS256; at least 32 random bytes. At least one of this, `keySet` and `authenticate`. */
  readonly secret?: string | Uint8Array;
  /** Public keys of an identity provider, for tokens signed by ES256 or EdDSA: a JWKS, or its URL. */
  readonly keySet?: TokenRules['keySet'];
  /** What tokens must say as `iss`. Default: `rockpool-server`. */
  readonly issuer?: string;
  /** What tokens must say as `aud`. Default: `rockpool`. */
  readonly audience?: string;
  /** Checks tokens in the host's own way, instead of `secret` and `keySet`. */
  readonly authenticate?: Authenticate;
  /** Decides in the host's own way who may do what, instead of tokens and members. */
  readonly authorize?: Authorize;
  /**
   * Pages of these origins may connect besides those of the server's own, such as `https://app.example.org`. Default:
   * none.
   */
  readonly origins?: readonly string[];
  /** The wall clock, ms since 1970. */
  readonly now?: () => number;
  /** Default: JSON lines to stderr, which also take the lines that a log of the host's throws at. */
  readonly log?: Logger;
  readonly limits?: Partial<SessionLimits>;
  /**
   * The app's own rule for what is admitted: null admits, a text refuses with that reason, which the author is told
   * (`changeset-refused`). Called inside the commit, so it has to answer at once. Default: none.
   */
  readonly validate?: (databaseId: string, changeset: ChangesetToValidate) => string | null;
  /** When a first sync comes as a file. */
  readonly snapshots?: Partial<SnapshotRules>;
  /** A delivery longer than this is sent in parts. Default 256 KiB. */
  readonly deliveryPartBytes?: number;
  /** How fast the files of databases are compared with their checksums in idle time. Not with `postgres`. */
  readonly scrub?: Partial<ScrubTimes>;
  /** How long deletes are remembered for clients that are away, and conflicts for people. */
  readonly retention?: Partial<Retention>;
}

export interface SyncServer {
  /**
   * Plain HTTP: members, invitations, probes. Mount it at the path of the sockets: `app.route('/sync', server.app)`.
   */
  readonly app: Hono;
  /** Takes WebSocket upgrades of `path` (default `/sync`) on a host's HTTP server; others are left alone. */
  attach(server: Server, path?: string): void;
  /**
   * A database for the program that runs the server: writes that sync like any other, and a feed of what changes. Made
   * at its first use.
   */
  database(databaseId: string): ServerDatabase;
  /** Who may do what, beyond what tokens say. What is changed here holds at once, also for open sessions. */
  readonly members: Pick<Members, 'list' | 'setRole' | 'invite'>;
  /**
   * Resolves once the store answers: to be waited for before clients are let in, where that is PostgreSQL. Throws why
   * it does not: `database-unavailable`, `config-invalid`, `schema-incompatible`.
   */
  ready(): Promise<void>;
  /** A token signed with `secret`. Throws `config-invalid` where the server has none. */
  issueToken(request: TokenRequest): Promise<string>;
  /** Ends all sessions, settles what was pushed, closes the files. The HTTP server stays the host's to close. */
  close(): Promise<void>;
}

export const SYNC_PATH = '/sync';

/**
 * A sync server to mount in a program of one's own. Throws `config-invalid` with every problem at once, and
 * `database-unavailable` when another server uses the directory.
 */
export function createSyncServer(options: SyncServerOptions): SyncServer {
  const {
    dataDir,
    schema,
    origins = [],
    keySet,
    issuer,
    audience,
    now = Date.now,
    limits,
    retention,
    deliveryPartBytes,
    validate,
  } = options;
  const secret = typeof options.secret === 'string' ? new TextEncoder().encode(options.secret) : options.secret;
  requireValid(options, secret);
  const log = neverThrows(options.log ?? logToStderr);
  const rules: TokenRules = {
    ...(secret && { secret }),
    ...(keySet && { keySet }),
    ...(issuer && { issuer }),
    ...(audience && { audience }),
  };
  mkdirSync(dataDir, { recursive: true });
  const lock = lockDirectory(dataDir);
  const metrics = new ServerMetrics();
  const onError = (error: unknown): void => log('store-error', errorFields(error));
  const {
    store,
    memberStore,
    bus,
    ready: storeReady,
    close: closeStore,
  } = options.postgres === undefined
    ? sqliteStores(dataDir, schema)
    : postgresStores(options.postgres, {
        dataDir,
        schema,
        maxConnections: options.postgresConnections,
        onError,
        measureCommit: (durationMs) => metrics.postgresCommitDurations.add(durationMs),
      });
  const members = new Members({ store: memberStore, bus, onChanged: () => sockets.reauthorize(), onError });
  const gate = new Gate({
    authenticate: options.authenticate ?? jwtAuthenticate(rules, now),
    authorize: options.authorize ?? ((...question) => members.allows(...question)),
    now,
    log,
  });
  const documentPool = new DocumentPool();
  const databases = new DatabaseCache({
    store,
    documentPool,
    bus: options.postgres === undefined ? null : bus,
    retention: { ...RETENTION, ...retention },
    deliveryPartBytes,
    offersSnapshot: (databaseId) => snapshots.isOffered(databaseId),
    validate: validate === undefined ? null : (databaseId) => (changeset) => validate(databaseId, changeset),
    onFailure: (database, error) => logFailure(log, database, error),
  });
  const sessionLimits = { ...SESSION_LIMITS, ...limits };
  const schemas = knownSchemas(dataDir, schema, options.olderSchemas);
  // Whoever may open a database may read all of it. Partial sync decides here.
  const readableRows = (_principal: Principal, _databaseId: string): ReadableRows => 'everything';
  const sockets = new Sockets({
    origins,
    context: {
      schemas,
      schemaOutline: encodeOutline(schema),
      gate,
      readableRows,
      openDatabase: (databaseId) => databases.get(databaseId),
      onDamaged: (databaseId, error) => databases.takeOffline(databaseId, error),
      now,
      log,
      limits: sessionLimits,
      connectionQuota: new ConnectionQuota(sessionLimits.maxSessionsPerPrincipal),
      metrics,
    },
  });
  metrics.gauge('rockpool_sockets', 'WebSockets that are open.', () => sockets.count);
  metrics.gauge('rockpool_databases_open', 'Files of databases that are open.', () => databases.count);
  metrics.gauge(
    'rockpool_databases_damaged',
    'Databases that are offline because their files are damaged.',
    () => databases.damagedCount,
  );
  const stopWatching = metrics.watchProcess();
  const takeOffline = (databaseId: string, error: RockpoolError): void => databases.takeOffline(databaseId, error);
  const requireIntact = async (databaseId: string): Promise<void> => {
    const { damaged: pages } = await verifyPages(store.pathOf(databaseId));
    if (pages.length === 0) return;
    const error = damagedError('page-checksum', { pages: pages.length });
    takeOffline(databaseId, error);
    throw error;
  };
  const snapshots = new Snapshots({
    dataDir,
    pathOf: (databaseId) => store.pathOf(databaseId),
    requireIntact,
    rules: { ...SNAPSHOT_RULES, ...options.snapshots },
  });
  // With PostgreSQL the files are working copies, which are made again at each start; PostgreSQL has checksums of its
  // own.
  const scrubber =
    options.postgres === undefined
      ? new Scrubber({
          dataDir,
          onDamaged: (databaseId, pages) => takeOffline(databaseId, damagedError('page-checksum', { pages })),
          onFailure: (database, error) => log('scrub-failed', { database, ...errorFields(error) }),
          times: { ...SCRUB_TIMES, ...options.scrub },
        })
      : null;
  const snapshotOf = async (databaseId: string, principal: Principal): Promise<Snapshot | null> => {
    const {
      logEpoch,
      log: { watermark },
      tombstones,
    } = (await databases.get(databaseId)).file;
    const taken = await snapshots.get(
      databaseId,
      {
        logEpoch: Buffer.from(logEpoch.id).toString('hex'),
        watermark,
        tombstoneHorizon: tombstones.tombstoneHorizon,
        schemaHash: schema.hash,
      },
      readableRows(principal, databaseId),
    );
    // It may have a commit in it that was under way.
    await (await databases.get(databaseId)).catchUp();
    return taken;
  };
  const stopped = new AbortController();
  const end = async (): Promise<void> => {
    stopped.abort();
    try {
      await Promise.all([sockets.close(), snapshots.close(), scrubber?.close()]);
    } finally {
      await databases.closeAll();
      await documentPool.close();
      members.close();
      await closeStore();
      lock.release();
      stopWatching();
    }
  };
  let closing: Promise<void> | null = null;
  return {
    app: createApp({
      gate,
      origins,
      log,
      metrics,
      services: {
        members,
        httpSessions: new HttpSessions((socket) => sockets.beginOverHttp(socket)),
        now,
        metrics,
        readiness: async () => (closing === null ? store.readiness() : 'unavailable'),
        damagedDatabases: () => databases.damagedCount,
        schemaHash: schema.hash,
        snapshot: snapshotOf,
      },
    }),
    members: {
      list: (databaseId) => members.list(databaseId),
      setRole: (databaseId, principal, role) => members.setRole(databaseId, principal, role),
      invite: (request) => members.invite(request),
    },
    ready: async () => {
      for (const [hash, view] of schemaViews(await storeReady(), schema)) schemas.set(hash, view);
    },
    database(databaseId) {
      if (!isDatabaseId(databaseId)) throw new RockpoolError('auth-database-forbidden');
      return toServerDatabase(() => databases.get(databaseId), now, stopped.signal);
    },
    attach: (server, path = SYNC_PATH) => sockets.attach(server, path),
    issueToken: async (request) => {
      if (secret === undefined)
        throw new RockpoolError('config-invalid', {
          count: 1,
          problems: 'the server has no secret to sign tokens with',
        });
      return issueToken(secret, request, now(), rules);
    },
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

function requireValid(
  { authenticate, keySet, origins = [], postgresConnections = MIN_CONNECTIONS }: SyncServerOptions,
  secret: Uint8Array | undefined,
): void {
  const problems = origins.map(originProblem).filter((problem) => problem !== null);
  if (secret === undefined && keySet === undefined && authenticate === undefined)
    problems.push('one of secret, keySet and authenticate is needed');
  if (!(postgresConnections >= MIN_CONNECTIONS)) problems.push(`postgresConnections: at least ${MIN_CONNECTIONS}`);
  const weakness = secret === undefined ? null : secretProblem(secret);
  if (weakness !== null) problems.push(weakness);
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
