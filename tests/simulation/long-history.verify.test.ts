import { expect, it } from 'vitest';
import { LiveContainers, type LiveContainer } from './live-containers.ts';
import { planHistory } from './operations.ts';
import { Random } from './random.ts';
import { runHistory } from './run-history.ts';
import { writeAt } from './sending.ts';
import { WorkCount } from './work-count.ts';
import type { World } from './world.ts';

const SEEDS = [4, 11] as const;
const OPERATIONS = { devices: [4, 4], operations: [400, 400] } as const;

/** More than MOST_ENTRIES, so that one entry per changeset, kept by one connection, exceeds the limit. */
const PROBES = 80;
const PROBE_MS = 200;
/** The largest ratio of the work at the end to the same work at the beginning. */
const MOST_GROWTH = 1.3;

/**
 * More entries than any live content of a history needs in one container: a leak of one entry per changeset leads to
 * hundreds.
 */
const MOST_ENTRIES = 64;

/** Containers that may have more entries. */
const ALLOWED: readonly { readonly file: string; readonly most: number; readonly why: string }[] = [
  {
    file: 'packages/sync-server/src/sqlite/sqlite-file.ts',
    most: 300,
    why: 'one prepared statement for each SQL text of the server and of the schema',
  },
  { file: 'packages/client/src/worker/sqlite/statement-cache.ts', most: 256, why: 'idle statements, which are reused' },
  { file: 'packages/client/src/worker/sqlite/connection.ts', most: 320, why: 'open statements, most of them idle' },
  { file: 'packages/vfs-opfs/src/log/generation.ts', most: 400, why: 'pages in the log, until the next checkpoint' },
];

/**
 * Returns the work that some small transactions of one device cause, on the devices and on the server, until every
 * device has them.
 */
async function probe(world: World, name: string): Promise<{ readonly devices: number; readonly server: number }> {
  const random = new Random(1);
  const [device] = world.devices;
  if (device === undefined) throw new Error('no device');
  // Every tab reads each commit, so both probes need the same number of tabs.
  for (const one of world.devices) for (const tab of [...one.tabs]) if (tab !== one.leader) one.closeTab(tab);
  // Each delivery tries some rejected edits again that may fit by then, so both probes need a device without any.
  for (const { leader } of world.devices)
    for (const sequence of leader?.opened?.database.rejected.sequences() ?? [])
      leader?.run(() => leader.membership.write([], { kind: 'drop-rejected', sequence })).catch(() => undefined);
  const exchanges = world.devices.map((one) => one.exchanges);
  await world.time.advance(10_000);
  const idle = new WorkCount();
  await world.time.advance(PROBES * PROBE_MS);
  idle.stop();
  const busy = new WorkCount();
  for (let n = 0; n < PROBES; n++) {
    writeAt(world, device, random, `${name}-${n}`, 'pair');
    await world.time.advance(PROBE_MS);
  }
  busy.stop();
  world.devices.forEach((one, index) => (one.exchanges = exchanges[index] ?? 0));
  return { devices: busy.devices - idle.devices, server: busy.server - idle.server };
}

function tooLarge(living: readonly LiveContainer[]): string[] {
  return living
    .filter(({ file, size }) => size > (ALLOWED.find((one) => one.file === file)?.most ?? MOST_ENTRIES))
    .map(({ file, size }) => `${file}: ${size} entries`);
}

it.each(SEEDS)(
  'memory and work per step are the same after a long history as at its beginning (seed %d)',
  async (seed) => {
    const containers = new LiveContainers();
    containers.install();
    try {
      const work: { readonly devices: number; readonly server: number }[] = [];
      let living: LiveContainer[] = [];
      const { failure } = await runHistory(planHistory(seed, OPERATIONS), {
        atTheStart: async (world) => void work.push(await probe(world, 'start')),
        atTheEnd: async (world) => {
          work.push(await probe(world, 'end'));
          await world.time.settle();
          living = containers.living();
        },
      });
      expect(failure).toBeNull();
      const [start, end] = work;
      console.info(`seed ${seed}: work ${JSON.stringify(work)}, the largest container has ${living[0]?.size} entries`);
      expect(living.length).toBeGreaterThan(0);
      expect(tooLarge(living)).toEqual([]);
      for (const side of ['devices', 'server'] as const)
        expect((end?.[side] ?? 0) / (start?.[side] ?? 1), `work of the ${side}`).toBeLessThan(MOST_GROWTH);
    } finally {
      containers.uninstall();
    }
  },
);
