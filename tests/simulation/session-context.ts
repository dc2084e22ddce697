import { createApp } from '#sync-server/assembly/create-app.ts';
import { Gate } from '#sync-server/auth/gate.ts';
import { roleAllows, type Operation, type Role } from '#sync-server/auth/role.ts';
import type { Logger } from '#sync-server/observe/log-line.ts';
import { ServerMetrics } from '#sync-server/observe/server-metrics.ts';
import type { Services } from '#sync-server/routes/route.ts';
import { ConnectionQuota } from '#sync-server/session/connection-quota.ts';
import { HttpSessions } from '#sync-server/session/http-sessions.ts';
import { SESSION_LIMITS } from '#sync-server/session/limits.ts';
import type { Session, SessionContext } from '#sync-server/session/session.ts';
import type { SessionSocket } from '#sync-server/session/session-socket.ts';
import type { Random } from './random.ts';
import { readToken } from './tokens.ts';

/** How long the check of a right takes, if checks take time. */
const CHECK_MS = [0, 0, 1, 5, 40, 400] as const;

/** What the sessions of one process share. */
export type ContextOfAll = Omit<SessionContext, 'onAuthenticated' | 'onClosed'>;

export interface ContextOptions extends Pick<SessionContext, 'openDatabase' | 'onDamaged'> {
  readonly random: Random;
  readonly maxUnreadBytes: number;
  /** Whether each check of a right takes time. */
  readonly isGateSlow: boolean;
  readonly now: () => number;
  readonly log: Logger;
  /** Null if revoked. */
  readonly roleOf: (device: string) => Role | null;
}

export function sessionContext(options: ContextOptions): ContextOfAll {
  const { random, maxUnreadBytes, isGateSlow, now, log, roleOf, openDatabase, onDamaged } = options;
  const isAllowed = (id: string, operation: Operation): boolean => roleAllows(roleOf(id), operation);
  return {
    readableRows: () => 'everything',
    gate: new Gate({
      authenticate: async (token) => readToken(token),
      authorize: ({ id }, _, operation) =>
        isGateSlow ? later(random, () => isAllowed(id, operation)) : isAllowed(id, operation),
      now,
      log,
    }),
    openDatabase,
    onDamaged,
    now,
    monotonicMs: now,
    log,
    limits: { ...SESSION_LIMITS, maxUnreadBytes },
    connectionQuota: new ConnectionQuota(Infinity),
    metrics: new ServerMetrics(),
  };
}

/** The part of the app of `SyncServer.app` that carries sessions over HTTP. Workers request nothing else. */
export function httpSessions(
  { gate, metrics, log, now }: ContextOfAll,
  begin: (socket: SessionSocket) => Session,
): (request: Request) => Response | Promise<Response> {
  const services: Partial<Services> = { log, metrics, now, httpSessions: new HttpSessions(begin), forwarding: null };
  const app = createApp({
    ...{ gate, metrics, log },
    services: services as Services,
    origins: [],
    addressOf: () => null,
  });
  return (request) => app.fetch(request);
}

/** The answer of a host's own service, which decides when it is asked. */
async function later<T>(random: Random, ask: () => T): Promise<T> {
  const answer = ask();
  await new Promise((resolve) => void setTimeout(resolve, random.pick(CHECK_MS)));
  return answer;
}
