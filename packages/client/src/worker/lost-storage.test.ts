import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import { expect, it } from 'vitest';
import { MEMORY_OPTIONS, memoryHost } from '../../testing/worker/memory-host.ts';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { WorkerApi, WorkerEvent } from '../rpc/worker-api.ts';

const insert = (id: string): { readonly sql: string; readonly params: readonly string[] } => ({
  sql: 'INSERT INTO account (id, name) VALUES (?, ?)',
  params: [id, id],
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
