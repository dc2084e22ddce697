import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import { expect, it } from 'vitest';
import type { OpenedDatabase } from '../leader/opened-database.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { testRuntime, testSchema } from '../../../testing/worker/test-database.ts';
import { createLocalOpener } from './open-local.ts';

const WRITES = 20;

async function openStrict(disk: SimulatedDisk): Promise<OpenedDatabase<OpenDatabase>> {
  const runtime = Promise.resolve(testRuntime);
  const open = createLocalOpener({
    name: 'test',
    schema: testSchema,
    migrations: null,
    databaseId: null,
    principal: null,
    durability: 'strict',
    medium: disk.medium(),
    runtime,
  });
  return open('writer', () => undefined);
}

function write(opened: OpenedDatabase<OpenDatabase>, id: string): Promise<void> {
  opened.database.write({
    id,
    statements: [{ sql: 'INSERT INTO account (id, name) VALUES (?, ?)', params: [id, id] }],
  });
  return opened.flushed?.() ?? Promise.reject(new Error('commits do not wait for a flush'));
}

it('strict writes that wait together share one flush, and none is acknowledged before it', async () => {
  const disk = new SimulatedDisk();
  const opened = await openStrict(disk);
  await write(opened, 'first');
  const seen: string[] = [];
  disk.fault = ({ kind }) => {
    if (kind === 'flush') seen.push('flush');
    return undefined;
  };
  await Promise.all(
    Array.from({ length: WRITES }, async (_, number) => {
      await write(opened, String(number));
      seen.push('acknowledged');
    }),
  );
  expect(seen).toEqual(['flush', ...Array.from({ length: WRITES }, () => 'acknowledged')]);
  await opened.flushed?.();
  expect(seen).toHaveLength(1 + WRITES);
  disk.fault = undefined;
  await opened.close({ handsOver: false });
});

it('closing first completes the flush that writes wait for', async () => {
  const opened = await openStrict(new SimulatedDisk());
  const written = write(opened, 'a');
  await opened.close({ handsOver: false });
  await expect(written).resolves.toBeUndefined();
});

it('a failed flush is reported to all waiting writes, which stay committed, and the next flush can succeed', async () => {
  const disk = new SimulatedDisk();
  const opened = await openStrict(disk);
  disk.fault = ({ kind }) => (kind === 'flush' ? 'quota' : undefined);
  const failed = await Promise.allSettled([write(opened, 'a'), write(opened, 'b')]);
  expect(failed).toEqual(
    [1, 2].map(() => ({
      status: 'rejected',
      reason: expect.objectContaining({ code: 'storage-unflushed', fields: { reason: 'storage-full' } }) as unknown,
    })),
  );
  expect(() => opened.database.flush()).toThrow(expect.objectContaining({ code: 'storage-unflushed' }) as Error);
  disk.fault = undefined;
  await write(opened, 'c');
  expect(opened.database.connection.rows('SELECT id FROM account ORDER BY id')).toEqual([['a'], ['b'], ['c']]);
  await opened.close({ handsOver: false });
});
