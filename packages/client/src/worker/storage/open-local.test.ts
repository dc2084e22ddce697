import type { RockpoolError } from '@rockpool/shared';
import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import { expect, it } from 'vitest';
import { testRuntime, testSchema } from '../testing/test-database.ts';
import { createLocalOpener, type OpenLocal } from './open-local.ts';

const PAGE_BYTES = 8192;

function opener(disk: SimulatedDisk, told: RockpoolError[]): OpenLocal {
  return createLocalOpener({
    name: 'test',
    schema: testSchema,
    migrations: null,
    principal: null,
    durability: 'relaxed',
    medium: disk.medium(),
    runtime: Promise.resolve(testRuntime),
    onStartedAnew: (error) => void told.push(error),
  });
}

/** A database with a write that was never sent, and with damage where every opening looks. */
async function damagedDisk(): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  const opened = await opener(disk, [])('writer', () => undefined);
  opened.database.write({ id: 'a', statements: [{ sql: "INSERT INTO account (id, name) VALUES ('a', 'Ada')", params: [] }] });
  const page = opened.database.connection.value("SELECT rootpage FROM sqlite_schema WHERE name = 'rockpool_meta'") as number;
  await opened.close({ handsOver: false });
  const file = await disk.medium().open('test.sqlite', false);
  file?.write(new Uint8Array(PAGE_BYTES).fill(0xaa), (page - 1) * PAGE_BYTES);
  file?.close();
  return disk;
}

it('a damaged database that was set aside is told of wherever room runs out after that, with how much of it is parked, and nothing stays open', async () => {
  const parkedCounts = new Set<number>();
  for (let roomForWrites = 0; !parkedCounts.has(1); roomForWrites++) {
    const disk = await damagedDisk();
    const told: RockpoolError[] = [];
    let writes = 0;
    disk.fault = ({ kind }) => (kind === 'write' && ++writes > roomForWrites ? 'quota' : undefined);
    const opened = await opener(disk, told)('writer', () => undefined).catch(() => null);
    disk.fault = undefined;
    await opened?.close({ handsOver: false });
    const isSetAside = (await disk.medium().list()).includes('test.corrupt-1.sqlite');
    expect(told).toHaveLength(isSetAside ? 1 : 0);
    if (!isSetAside) continue;
    const again = await opener(disk, told)('writer', () => undefined);
    const parked = again.database.listParked().length;
    expect(told.map(({ fields }) => fields)).toEqual([{ keptAs: 'test.corrupt-1', parked, isComplete: parked === 1 }]);
    await again.close({ handsOver: false });
    parkedCounts.add(parked);
  }
  expect([...parkedCounts]).toEqual([0, 1]);
});
