import { PING_INTERVAL_MS } from '#shared/index.ts';
import type { Tab } from './tab.ts';
import { HistoryFailed, type World } from './world.ts';

/** A page that has connected again asks for the states of the others, and they for its own. */
const EXCHANGED_MS = 1_000;

/**
 * Notices of one instance reach another one late, twice or in another order, so a page that has just connected again
 * may be missing there. Instances repeat their states at the ping interval.
 */
const REPEATED_MS = 2 * PING_INTERVAL_MS;

/** More waits than this indicate pages that connect again without need. */
const MOST_WAITS = 10;

/** Every page that takes part in presence sees what the others show, and nobody who is gone. Throws `HistoryFailed`. */
export async function checkPresence(world: World): Promise<void> {
  const { tally } = world;
  await untilAllAreKnown(world);
  const alive = tabsOf(world);
  const statesOf = (tabs: readonly Tab[]): number[] => tabs.flatMap(({ presenceState }) => presenceState ?? []);
  for (const tab of alive) {
    if (tab.presence === null || !tab.isUsable || !tab.hasShown) continue;
    const seen = new Set(tab.presence.page.current.map(({ state }) => Number(state)));
    const others = alive.filter((other) => other !== tab);
    const missing = statesOf(others.filter(({ isUsable }) => isUsable)).find((state) => !seen.has(state));
    if (missing !== undefined) throw new HistoryFailed(`${tab.owner.name} does not see the page that shows ${missing}`);
    const gone = [...seen].find((state) => !statesOf(others).includes(state));
    if (gone !== undefined) throw new HistoryFailed(`${tab.owner.name} sees ${gone}, which no page shows`);
    tally.add('page that sees the others', seen.size > 0 ? 1 : 0);
  }
}

/** Waits until no page has connected so recently that others need not know its state. */
async function untilAllAreKnown(world: World): Promise<void> {
  const { time, variant } = world;
  const knownAfterMs = (variant.instances ?? 1) === 1 ? EXCHANGED_MS : REPEATED_MS;
  for (let waits = 0; ; waits++) {
    const leftMs = Math.max(...tabsOf(world).map(({ connectedMs }) => connectedMs)) + knownAfterMs - time.nowMs;
    if (leftMs <= 0) return;
    if (waits === MOST_WAITS) throw new HistoryFailed('pages connect again and again');
    await time.advance(leftMs);
  }
}

function tabsOf({ devices }: World): Tab[] {
  return devices.flatMap(({ tabs }) => tabs.filter(({ owner, isSuspended }) => owner.isAlive && !isSuspended));
}
