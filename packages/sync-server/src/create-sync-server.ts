import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Hono } from 'hono';
import { RockpoolError, type Schema } from '@rockpool/shared';
import { createApp } from './app.ts';
import type { Authenticate } from './auth/grant.ts';
import { issueToken, jwtAuthenticate, type TokenRequest } from './auth/jwt.ts';
import { originProblem } from './auth/origin.ts';
import { secretProblem } from './auth/secret.ts';
import { DatabaseCache } from './fanout/database-cache.ts';
import { RETENTION, type Retention } from './log/retention.ts';
import { errorFields, logToStderr, type Log } from './observe/log-line.ts';
import { Sockets } from './session/accept-sockets.ts';
import { SESSION_LIMITS, type SessionLimits } from './session/session-rules.ts';
import { lockDirectory } from './store/directory-lock.ts';

export interface SyncServerOptions {
  /** One SQLite file per database lies here. Made where it is missing; one server process at a time. */
  readonly dataDir: string;
  /** Built by the app, read with decodeSchema. */
  readonly schema: Schema;
  /** Signs and checks tokens by HS256; at least 32 random bytes. Either this or `authenticate`. */
  readonly secret?: string | Uint8Array;
  /** Checks tokens in the host's own way. */
  readonly authenticate?: Authenticate;
  /** Pages of these origins may connect besides those of the server's own, such as `https://app.example.org`. Default: none. */
  readonly origins?: readonly string[];
  /** The wall clock, ms since 1970. */
  readonly now?: () => number;
  /** Default: JSON lines to stderr. */
  readonly log?: Log;
  readonly limits?: Partial<SessionLimits>;
  /** How long deletes are remembered for clients that are away, and conflicts for people. */
  readonly retention?: Partial<Retention>;
}

export interface SyncServer {
  /** Plain HTTP: `GET /health`. Mount it anywhere: `app.route('/rockpool', server.app)`. */
  readonly app: Hono;
  /** Takes WebSocket upgrades of `path` (default `/sync`) on a host's HTTP server; others are left alone. */
  attach(server: Server, path?: string): void;
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
  const { dataDir, schema, origins = [], now = Date.now, log = logToStderr, limits, retention } = options;
  const secret = typeof options.secret === 'string' ? new TextEncoder().encode(options.secret) : options.secret;
  requireValid(options, secret);
  const authenticate = options.authenticate ?? jwtAuthenticate(secret as Uint8Array, now);
  mkdirSync(dataDir, { recursive: true });
  const lock = lockDirectory(dataDir);
  const databases = new DatabaseCache({ dataDir, schema, retention: { ...RETENTION, ...retention }, onFailure: (database, error) => log('push-failed', { database, ...errorFields(error) }) });
  const sockets = new Sockets({
    origins,
    context: {
      schemaHash: schema.hash,
      authenticate,
      openDatabase: (databaseId) => databases.get(databaseId),
      now,
      log,
      limits: { ...SESSION_LIMITS, ...limits },
    },
  });
  let closing: Promise<void> | null = null;
  return {
    app: createApp(),
    attach: (server, path = SYNC_PATH) => sockets.attach(server, path),
    issueToken: async (request) => {
      if (secret === undefined) throw new RockpoolError('config-invalid', { count: 1, problems: 'the server has no secret to sign tokens with' });
      return issueToken(secret, request, now());
    },
    close: () => {
      closing ??= sockets.close().finally(() => {
        databases.closeAll();
        lock.release();
      });
      return closing;
    },
  };
}

function requireValid({ authenticate, origins = [] }: SyncServerOptions, secret: Uint8Array | undefined): void {
  const problems = origins.map(originProblem).filter((problem) => problem !== null);
  if (secret === undefined && authenticate === undefined) problems.push('either secret or authenticate is needed');
  const weakness = secret === undefined ? null : secretProblem(secret);
  if (weakness !== null) problems.push(weakness);
  if (problems.length > 0) throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
