import fc from 'fast-check';
import { expect } from 'vitest';
import { LiveDatabase } from '../src/database/live-database.ts';
import { openDatabaseFile } from '../src/store/database-file.ts';
import { untilCommitted } from './direct-session.ts';
import { hostileFrames } from './hostile-frames.ts';
import { TEST_SCHEMA } from './test-schema.ts';
import { beginSession, greet, sessionServices, type SessionServices } from './socketless-session.ts';
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
  const { session, received } = beginSession(services);
  if (frames.length % 3 !== 0) await greet(session);
  for (const frame of frames) session.receive(frame);
  await untilCommitted();
  session.disconnected();
  const failure = received.find((message) => message.type === 'failure');
  if (failure !== undefined) expect(failure.code).not.toBe('internal');
}
