import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { MEMORY_OPTIONS, memoryHost } from '../../testing/worker/memory-host.ts';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { WorkerApi, WorkerEvent } from '../rpc/worker-api.ts';

const insert = (id: string): { readonly sql: string; readonly params: readonly string[] } => ({
  sql: 'INSERT INTO account (id, name) VALUES (?, ?)',
  params: [id, id],
});

afterEach(() => {
  vi.useRealTimers();
});

async function openOn(medium: ReturnType<SimulatedDisk['medium']>, events: WorkerEvent[] = []): Promise<WorkerApi> {
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

it('a worker whose files fail for an unknown reason asks for its replacement, but not in its first minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 });
  const disk = new SimulatedDisk();
  const events: WorkerEvent[] = [];
  const host = await openOn(disk.medium(), events);
  const fail = async (id: string): Promise<void> => {
    disk.fault = () => 'unknown';
    await expect(host.write([insert(id)], undefined, id)).rejects.toMatchObject({
      code: 'internal',
      fields: { storage: 'storage-failed', reason: 'UnknownError' },
    });
    disk.fault = undefined;
  };
  const problems = (): WorkerEvent[] => events.filter(({ kind }) => kind === 'problem');
  await fail('first');
  expect(problems()).toEqual([]);
  vi.advanceTimersByTime(60_000);
  await fail('second');
  expect(problems()).toEqual([
    {
      kind: 'problem',
      error: expect.objectContaining({ code: 'worker-stuck', fields: { reason: 'storage-failed' } }),
    },
  ]);
  await host.close();
});
