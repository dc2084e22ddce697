import { expect, it } from 'vitest';
import type { Reads } from '../../rpc/reads.ts';
import { readsBeside } from './reads-beside.ts';
import { WriterQueue } from './writer-queue.ts';

const QUERY = { sql: 'SELECT 1', params: [] };

/** Reads of a connection that record whether a transaction is open on the writer's connection when they run. */
function recordingReads(name: string, writerQueue: WriterQueue, runs: string[]): Reads {
  const run = (): Promise<never> => {
    runs.push(`${name}${writerQueue.isHeld ? ', in a transaction' : ''}`);
    return Promise.resolve(undefined as never);
  };
  return {
    query: run,
    queryAll: run,
    dependencies: run,
    rowSyncState: run,
    writeStates: run,
    listRejected: run,
    listWaiting: run,
    backup: run,
  };
}

it('a read never runs on the connection of a transaction, even of one that begins right after the call', async () => {
  const writerQueue = new WriterQueue();
  const runs: string[] = [];
  const reads = readsBeside(
    {
      reads: recordingReads('writer', writerQueue, runs),
      readsBeside: () => Promise.resolve(recordingReads('beside', writerQueue, runs)),
    },
    writerQueue,
    () => undefined,
  );
  const reading = [reads.query(QUERY), reads.queryAll([QUERY]), reads.listRejected()];
  writerQueue.hold(() => undefined);
  await Promise.all(reading);
  await reads.query(QUERY);
  expect(runs).toEqual(['writer', 'writer', 'writer', 'beside, in a transaction']);
});

it('a read runs between two transactions if there is no second connection', async () => {
  const writerQueue = new WriterQueue();
  const runs: string[] = [];
  const reads = readsBeside({ reads: recordingReads('writer', writerQueue, runs) }, writerQueue, () => undefined);
  const releases: (() => void)[] = [];
  writerQueue.hold((release) => releases.push(release));
  const reading = reads.query(QUERY);
  await Promise.resolve();
  writerQueue.hold((release) => releases.push(release));
  releases[0]?.();
  expect(writerQueue.isHeld).toBe(true);
  await reading;
  expect(runs).toEqual(['writer']);
});
