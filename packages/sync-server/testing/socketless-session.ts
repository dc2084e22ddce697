import {
  decodeServerMessage,
  encodeMessage,
  FIRST_LOG_HASH,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  PROTOCOL_VERSION,
  type Hello,
  type ServerMessage,
} from '@rockpool/shared';
import { Gate } from '../src/auth/gate.ts';
import type { Authorize } from '../src/auth/principal.ts';
import type { LiveDatabase } from '../src/database/live-database.ts';
import type { Logger } from '../src/observe/log-line.ts';
import { ServerMetrics } from '../src/observe/server-metrics.ts';
import { SESSION_LIMITS } from '../src/session/limits.ts';
import { ConnectionQuota } from '../src/session/connection-quota.ts';
import { Session } from '../src/session/session.ts';
import type { SessionSocket } from '../src/session/session-socket.ts';
import { untilCommitted } from './direct-session.ts';
import { TEST_SCHEMA } from './test-schema.ts';

export type SessionServices = ConstructorParameters<typeof Session>[1];

/** The services of sessions of one database. `authorize`: see Gate. Default: everything is allowed. */
export function sessionServices(
  database: LiveDatabase,
  log: Logger,
  authorize: Authorize = () => true,
  now: () => number = () => 0,
  monotonicMs: () => number = now,
): SessionServices {
  const gate = new Gate({
    authenticate: async () => ({ id: 'ann', expiresAtMs: Infinity }),
    authorize,
    now,
    log,
  });
  return {
    gate,
    readableRows: () => 'everything',
    openDatabase: () => database,
    onDamaged: (_, error) => {
      throw error;
    },
    now,
    monotonicMs,
    log,
    limits: SESSION_LIMITS,
    connectionQuota: new ConnectionQuota(Infinity),
    metrics: new ServerMetrics(),
    onAuthenticated: () => undefined,
    onClosed: () => undefined,
  };
}

/** Begins a session whose client keeps sending while it is paused, and by default reads everything at once. */
export function beginSession(
  services: SessionServices,
  reading: Partial<SessionSocket> = {},
): {
  readonly session: Session;
  readonly received: ServerMessage[];
} {
  const received: ServerMessage[] = [];
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  const socket = {
    send: (frame: Uint8Array) => {
      const message = assembler.add(frame);
      if (message !== null) received.push(decodeServerMessage(message));
    },
    unreadBytes: () => 0,
    whenDrained: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    close: () => undefined,
    terminate: () => undefined,
    ...reading,
  };
  return { session: new Session(socket, services, null), received };
}

/** Says hello, and resolves once the session is open. */
export async function greet(session: Session): Promise<void> {
  for (const frame of messageToFrames(encodeMessage(helloOfNewSite()))) session.receive(frame);
  await untilCommitted();
}

export function helloOfNewSite(): Hello {
  return {
    type: 'hello',
    protocolVersion: PROTOCOL_VERSION,
    token: '',
    databaseId: 'household',
    databaseIdentity: null,
    siteId: crypto.getRandomValues(new Uint8Array(16)),
    schemaHash: TEST_SCHEMA.hash,
    logEpoch: null,
    cursor: 0,
    cursorHash: FIRST_LOG_HASH,
    lastAckedSequence: 0,
    decidedHash: new Uint8Array(16),
    lastSequence: 0,
    fullResync: false,
    snapshot: 'accepted',
  };
}
