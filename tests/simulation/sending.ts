import type { RockpoolError } from '#shared/index.ts';
import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import type { Device } from './device.ts';
import { pageChange } from './page-writes.ts';
import type { Random } from './random.ts';
import type { Tab } from './tab.ts';
import type { World } from './world.ts';
import { pagesSeen } from './seen-rows.ts';
import type { Subject } from './subject-writes.ts';
import { randomTransaction } from './writes.ts';

/** Write failures that the author receives and can act on. Any other failure is a fault. */
export const HONEST_FAILURES = /^(constraint-|leader-unreachable|client-closed|storage-lost|transaction-lost)/;

/**
 * The tab closed or found a newer version of the app before the response, or the write is stored but could not be
 * flushed.
 */
const MAY_HAVE_TAKEN_EFFECT: ReadonlySet<string> = new Set(['client-closed', 'storage-unflushed', 'tab-outdated']);

export function isHonest({ device }: Tab, { code }: RockpoolError): boolean {
  return HONEST_FAILURES.test(code) || device.isForLackOfRoom(code) || device.isForOtherApp(code);
}

/** Reports a write that failed for its author and took effect. */
export function checkNoEffect(world: World, { device }: Tab, mark: string, code: string): void {
  const { model } = world;
  if (MAY_HAVE_TAKEN_EFFECT.has(code) || !model.commits.has(mark)) return;
  // The writer has closed before the medium undid the write, so the next one's opening shows what was undone.
  if (device.storage.kind === 'indexeddb' && device.leader === undefined) model.refused.add(mark);
  else world.fault(`${mark} failed with ${code} and took effect all the same`);
}

/** Writes in any tab of the device that can write now. */
export function writeAt(world: World, device: Device, random: Random, mark: string, subject?: Subject): void {
  const [tab] = device.usableTabs;
  if (tab !== undefined) write(world, tab, random, mark, subject);
}

export function write(world: World, tab: Tab, random: Random, mark: string, subject?: Subject): void {
  const statements = randomTransaction(tab, random, mark, subject);
  send(world, tab, mark, statements, random.chance(0.15));
}

export function send(
  world: World,
  tab: Tab,
  mark: string,
  statements: readonly SqlStatement[],
  isAtomic: boolean,
): void {
  world.tally.add(isAtomic ? 'atomic write' : 'write');
  if (isAtomic) world.model.atomic.add(mark);
  tab.write(statements, isAtomic).then(
    () => {
      // The write is promised from now on, so it must already be in the changelog.
      if (tab.owner.isAlive && !world.model.commits.has(mark))
        world.fault(`${mark} was acknowledged and is not in the changelog`);
      if (tab.owner.isAlive) world.model.acknowledged.add(mark);
      world.note(`${mark} written`);
    },
    (thrown: RockpoolError) => {
      if (!tab.owner.isAlive) return;
      world.note(`${mark} failed: ${thrown.code}`);
      world.tally.add(`write failed: ${thrown.code}`);
      if (!isHonest(tab, thrown)) world.fault(`${mark} failed with ${thrown.message}`);
      else checkNoEffect(world, tab, mark, thrown.code);
    },
  );
}

/** Types into an editor that is bound to a page. Another write may have replaced the page meanwhile. */
export function editPage(world: World, tab: Tab, random: Random, token: string): void {
  const change = pageChange(pagesSeen(tab), random, token);
  if (change === null) return;
  world.tally.add('edit of a document by its Y.Doc');
  tab
    .run(() => tab.membership.write([], change))
    .catch((thrown: RockpoolError) => {
      if (!tab.owner.isAlive) return;
      world.note(`${token} failed: ${thrown.code}`);
      if (!isHonest(tab, thrown) && thrown.code !== 'document-gone')
        world.fault(`${token} failed with ${thrown.message}`);
    });
}
