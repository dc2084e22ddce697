import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { send } from '../sending.ts';
import type { Tab } from '../tab.ts';
import type { World } from '../world.ts';
import { countIn, makeCounter } from '../writes.ts';
import { restoreLoss } from './restore-loss.ts';

/**
 * Two devices create the same counter concurrently and add to it. One row wins; the additions to the other one are in
 * the conflict log, and a user adds them again.
 */
export async function countApart(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  const counter = `jar ${number}`;
  let part = 0;
  const by = (who: Device, statements: (tab: Tab, mark: string) => SqlStatement[]): void => {
    const [tab] = who.usableTabs;
    const mark = `${who.name}-${number}.${part++}`;
    if (tab !== undefined) send(world, tab, mark, statements(tab, mark), false);
  };
  server.start();
  for (const both of [device, other]) network.partition(both, false);
  await time.advance(random.below(2_000));
  network.partition(device, true);
  for (const who of random.chance(0.5) ? [device, other] : [other, device]) {
    // Equal starting values would be no conflict, so one counter starts at zero.
    by(who, (tab, mark) => makeCounter(tab, mark, counter, who === other ? 0 : 1 + random.below(2)));
    await time.advance(5);
    for (let times = random.below(3); times >= 0; times--)
      by(who, (tab, mark) => countIn(tab, mark, counter, 1 + random.below(2)));
  }
  await time.advance(random.below(2_000));
  network.partition(device, false);
  await time.advance(random.below(4_000));
  restoreLoss(world, other, random, `${other.name}-${number}.${part++}`, counter);
}
