import { createHash } from 'node:crypto';
import { FIRST_MARK } from './checks.ts';
import { checkEnding, seenByFollowers } from './ending-check.ts';
import { loadRuntimes } from './load-runtimes.ts';
import type { Plan } from './operations.ts';
import { perform, wake } from './perform.ts';
import { checkPresence } from './presence-check.ts';
import { PLAIN } from './variant.ts';
import { HistoryFailed, World } from './world.ts';
import { firstTransaction } from './writes.ts';

export interface Result {
  readonly tally: readonly (readonly [string, number])[];
  /** A hash over all events in order. */
  readonly logHash: string;
  /** Null if no problem was found. */
  readonly failure: string | null;
  readonly log: readonly string[];
  /** The number of steps performed. */
  readonly stepsTaken: number;
}

/** After the last fault ends: long enough for every deadline. */
const HEALING_MS = 4 * 60_000;
const HEALING_TOKEN_MS = 60_000;

/** Functions that examine the world while its devices are connected and idle. */
export interface Observer {
  /** Called before the first step. */
  readonly atTheStart: (world: World) => Promise<void>;
  /** Called after healing. */
  readonly atTheEnd: (world: World) => Promise<void>;
}

/** Runs one history. Everything in it follows from the plan. */
export async function runHistory(
  { seed, devices, operations, variant = PLAIN }: Plan,
  observer: Observer | null = null,
): Promise<Result> {
  const loaded = await loadRuntimes();
  const world = new World(seed, loaded, variant);
  world.install();
  let failure: string | null = null;
  let stepsTaken = 0;
  try {
    world.server.start();
    for (let device = 0; device < devices; device++) {
      world.addDevice().openTab();
    }
    await world.time.advance(1_000);
    const [firstTab] = world.devices[0]?.usableTabs ?? [];
    if (firstTab === undefined) throw new HistoryFailed('the first device does not open');
    await world.time.until(firstTab.write(firstTransaction(firstTab, FIRST_MARK)));
    await observer?.atTheStart(world);
    for (const operation of operations) {
      stepsTaken++;
      world.note(`${operation.number} ${operation.kind} ${operation.device}`);
      await perform(world, operation);
      world.silence.check(world.devices);
      world.assertSound();
    }
    await heal(world);
    await observer?.atTheEnd(world);
    checkEnding(world, await seenByFollowers(world));
    await checkPresence(world);
    if (world.server.live !== null) world.past?.atTheEnd(world.server.live.file);
    world.assertSound();
  } catch (thrown) {
    failure =
      thrown instanceof HistoryFailed
        ? thrown.message
        : thrown instanceof Error
          ? (thrown.stack ?? thrown.message)
          : String(thrown);
  } finally {
    await world.dispose();
  }
  return {
    tally: [...world.tally.counts],
    logHash: createHash('sha256').update(world.log.join('\n')).digest('hex'),
    failure,
    log: world.log,
    stepsTaken,
  };
}

async function heal(world: World): Promise<void> {
  world.note('healing');
  world.server.trap = null;
  world.server.failSyncs(0);
  world.server.makeRoom();
  world.server.start();
  for (const device of world.devices) {
    world.network.partition(device, false);
    device.isSlow = false;
    device.forgetDoom();
    device.makeRoom();
    device.tokenLifetimeMs = Math.max(device.tokenLifetimeMs, HEALING_TOKEN_MS);
    world.server.setRole(device.name, 'editor', 'owner');
    for (const tab of device.tabs) {
      tab.medium.freeze(false);
      if (tab.isSuspended) wake(tab);
    }
    if (device.tabs.length === 0) device.openTab();
    device.exchanges = 0;
  }
  await world.time.advance(HEALING_MS);
  await world.damageOne();
  for (const device of world.devices) {
    // Every tab may have been closing.
    if (device.leader === undefined) device.openTab();
  }
  await world.time.advance(60_000);
  world.silence.check(world.devices);
  world.assertSound();
}
