import type { FileMedium } from '@rockpool/vfs-opfs';
import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { MEMORY_OPTIONS, memoryHost } from '../../testing/worker/memory-host.ts';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { WorkerApi, WorkerEvent } from '../rpc/worker-api.ts';

const insert = (id: string, name: string = id): { readonly sql: string; readonly params: readonly string[] } => ({
  sql: 'INSERT INTO account (id, name) VALUES (?, ?)',
  params: [id, name],
});

afterEach(() => {
  vi.useRealTimers();
});

async function openOn(medium: FileMedium, events: WorkerEvent[] = []): Promise<WorkerApi> {
  const host = memoryHost({ chooseMedium: async () => ({ persistence: 'opfs', medium }) });
  await host.open(
    { ...MEMORY_OPTIONS, persistence: 'opfs' },
    { onEvent: (event) => void events.push(event), token: async () => '' },
  );
  return host;
}

it('a worker asks its page to replace it when the browser has taken its files away, and the next one has all writes that resolved', async () => {
  const disk = new SimulatedDisk();
  const medium = disk.medium();
  const events: WorkerEvent[] = [];
  const host = await openOn(medium, events);
  await host.write([insert('a')], undefined, 'first');
  disk.fault = () => 'lost';
  await expect(host.write([insert('b')], undefined, 'second')).rejects.toMatchObject({ code: 'storage-lost' });
  expect(events).toContainEqual({
    kind: 'problem',
    error: expect.objectContaining({ code: 'worker-stuck', fields: { reason: 'storage-lost' } }),
  });
  disk.fault = undefined;
  medium.kill();
  const next = await openOn(disk.medium());
  await next.write([insert('b')], undefined, 'second');
  const rows = await next.query({ sql: 'SELECT id FROM account ORDER BY id', params: [] });
  expect(decodeRows(rows)).toEqual([{ id: 'a' }, { id: 'b' }]);
  await next.close();
});

/** A medium whose reads fail for an unknown reason on demand. */
function failingReads(medium: FileMedium): { readonly medium: FileMedium; fail(fails: boolean): void } {
  let failsNow = false;
  const open: FileMedium['open'] = async (fileName, create) => {
    const file = await medium.open(fileName, create);
    if (file === undefined) return undefined;
    const read = (into: Uint8Array, at: number): number => {
      if (failsNow) throw new DOMException('the disk fails', 'UnknownError');
      return file.read(into, at);
    };
    return { ...file, read };
  };
  return { medium: { ...medium, open }, fail: (fails) => void (failsNow = fails) };
}

const UNKNOWN_FAILURE = { code: 'internal', fields: { storage: 'storage-failed', reason: 'UnknownError' } };
const problemsIn = (events: readonly WorkerEvent[]): WorkerEvent[] => events.filter(({ kind }) => kind === 'problem');

it('a worker whose reads fail for an unknown reason asks for its replacement, but not in its first minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 });
  const { medium, fail } = failingReads(new SimulatedDisk().medium());
  const events: WorkerEvent[] = [];
  const host = await openOn(medium, events);
  // More pages than SQLite caches.
  const inserts = Array.from({ length: 40 }, (_, n) => insert(`${n}`, `${n}`.padEnd(200_000, 'x')));
  await host.write(inserts, undefined, 'first');
  const failRead = async (): Promise<void> => {
    fail(true);
    const read = host.query({ sql: 'SELECT sum(length(name)) FROM account', params: [] });
    await expect(read).rejects.toMatchObject(UNKNOWN_FAILURE);
    fail(false);
  };
  await failRead();
  expect(problemsIn(events)).toEqual([]);
  vi.advanceTimersByTime(60_000);
  await failRead();
  expect(problemsIn(events)).toEqual([
    {
      kind: 'problem',
      error: expect.objectContaining({ code: 'worker-stuck', fields: { reason: 'storage-failed' } }),
    },
  ]);
  await host.close();
});

it('a worker whose writes fail for an unknown reason is not replaced: its files stay readable', async () => {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 });
  const disk = new SimulatedDisk();
  const events: WorkerEvent[] = [];
  const host = await openOn(disk.medium(), events);
  await host.write([insert('a')], undefined, 'first');
  vi.advanceTimersByTime(60_000);
  disk.fault = () => 'unknown';
  await expect(host.write([insert('b')], undefined, 'second')).rejects.toMatchObject(UNKNOWN_FAILURE);
  const rows = await host.query({ sql: 'SELECT id FROM account', params: [] });
  expect(decodeRows(rows)).toEqual([{ id: 'a' }]);
  expect(problemsIn(events)).toEqual([]);
  disk.fault = undefined;
  await host.close();
});
