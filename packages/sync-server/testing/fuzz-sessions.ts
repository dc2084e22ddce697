import fc from 'fast-check';
import {
  decodeServerMessage,
  encodeMessage,
  FIRST_LOG_HASH,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  PROTOCOL_VERSION,
  type ServerMessage,
} from '@rockpool/shared';
import { expect } from 'vitest';
import { Gate } from '../src/auth/gate.ts';
import { LiveDatabase } from '../src/database/live-database.ts';
import type { Logger } from '../src/observe/log-line.ts';
import { ServerMetrics } from '../src/observe/server-metrics.ts';
import { SESSION_LIMITS } from '../src/session/limits.ts';
import { ConnectionQuota } from '../src/session/connection-quota.ts';
import { Session } from '../src/session/session.ts';
import { openDatabaseFile } from '../src/store/database-file.ts';
import { untilCommitted } from './direct-session.ts';
import { hostileFrames } from './hostile-frames.ts';
import { TEST_SCHEMA } from './test-schema.ts';
import { usedMemory } from './used-memory.ts';

/** A database keeps an outcome for each rejected changeset. */
const MAX_KEPT_HEAP_BYTES = 16 * 1024 * 1024;

/** V8's own memory varies by 10 MB. A single hostile frame that the server trusts would take more than this. */
const MAX_KEPT_RESIDENT_BYTES = 128 * 1024 * 1024;

/**
 * Frames to send before the measurement. V8 reserves pages before it touches them; after these frames, it has touched
 * all the pages that frames need.
 */
const WARM_UP_FRAMES = 5_000;
const WARM_UP_SEED = 1_000_000;

/**
 * Sends at least `count` hostile frames to sessions before and after their hello, without sockets. Checks that each
 * session ends with a typed failure other than `internal`, or continues; that nothing throws; that no frame reaches the
 * tables; and that memory does not grow.
 */
export async function fuzzSessions(count: number, seed: number): Promise<void> {
  const failures: unknown[] = [];
  const database = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
    onFailure: (error) => void failures.push(error),
  });
  const services = sessionServices(database, (event, fields) => {
    if (event === 'session-error') failures.push(fields);
  });
  await sendHostileFrames(services, WARM_UP_FRAMES, WARM_UP_SEED);
  const before = usedMemory();
  await sendHostileFrames(services, count, seed);
  expect(failures).toEqual([]);
  for (const { schema } of database.file.tableById.values())
    expect(database.file.sql.get(`SELECT count(*) FROM "${schema.name}"`)).toEqual([0n]);
  const after = usedMemory();
  expect(after.heapBytes - before.heapBytes).toBeLessThan(MAX_KEPT_HEAP_BYTES);
  expect(after.residentBytes - before.residentBytes).toBeLessThan(MAX_KEPT_RESIDENT_BYTES);
  void database.close();
}

type SessionServices = ConstructorParameters<typeof Session>[1];

function sessionServices(database: LiveDatabase, log: Logger): SessionServices {
  const gate = new Gate({
    authenticate: async () => ({ id: 'ann', expiresAtMs: Infinity }),
    authorize: () => true,
    now: () => 0,
    log,
  });
  return {
    gate,
    readableRows: () => 'everything',
    openDatabase: () => database,
    address: null,
    onDamaged: (_, error) => {
      throw error;
    },
    now: () => 0,
    log,
    limits: SESSION_LIMITS,
    connectionQuota: new ConnectionQuota(Infinity),
    metrics: new ServerMetrics(),
    onAuthenticated: () => undefined,
    onClosed: () => undefined,
  };
}

async function sendHostileFrames(services: SessionServices, count: number, firstSeed: number): Promise<void> {
  let sent = 0;
  for (let run = 0; sent < count; run++) {
    for (const frames of fc.sample(hostileFrames, { seed: firstSeed + run, numRuns: 200 })) {
      await sendInOneSession(services, frames);
      sent += frames.length;
    }
  }
}

async function sendInOneSession(services: SessionServices, frames: readonly Uint8Array[]): Promise<void> {
  const received: ServerMessage[] = [];
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  const socket = {
    send: (frame: Uint8Array) => {
      const message = assembler.add(frame);
      if (message !== null) received.push(decodeServerMessage(message));
    },
    unreadBytes: () => 0,
    pause: () => undefined,
    resume: () => undefined,
    close: () => undefined,
    terminate: () => undefined,
  };
  const session = new Session(socket, services);
  if (frames.length % 3 !== 0) await greet(session);
  for (const frame of frames) session.receive(frame);
  await untilCommitted();
  session.disconnected();
  const failure = received.find((message) => message.type === 'failure');
  if (failure !== undefined) expect(failure.code).not.toBe('internal');
}

async function greet(session: Session): Promise<void> {
  const hello = encodeMessage({
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
  });
  for (const frame of messageToFrames(hello)) session.receive(frame);
  await untilCommitted();
}
