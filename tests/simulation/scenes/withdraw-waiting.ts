import type { RockpoolError } from '#shared/index.ts';
import type { WaitingChangeset } from '#client/rpc/rejected-changeset.ts';
import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { isHonest, writeAt } from '../sending.ts';
import type { Tab } from '../tab.ts';
import type { World } from '../world.ts';

/**
 * A user lists the transactions that wait, and withdraws one of them: of several that were written without a
 * connection, or of those that are on their way.
 */
export async function withdrawWaiting(world: World, device: Device, random: Random, number: number): Promise<void> {
  const isApart = random.chance(0.6);
  if (isApart) world.network.partition(device, true);
  if (isApart || random.chance(0.7)) {
    for (let part = 0; part < 3; part++) writeAt(world, device, random, `${device.name}-${number}.${part}`);
    await world.time.advance(random.below(isApart ? 400 : 40));
  }
  if (device.usableTabs.length > 0) withdrawOne(world, random.pick(device.usableTabs), random, number);
  if (!isApart || random.chance(0.3)) return;
  await world.time.advance(random.below(200));
  world.network.partition(device, false);
}

function withdrawOne(world: World, tab: Tab, random: Random, number: number): void {
  const chosen = random.next();
  tab
    .run(async () => {
      const waiting = await tab.membership.reads.listWaiting(100);
      const changeset = waiting[Math.floor(chosen * waiting.length)];
      if (changeset === undefined) return world.tally.add('nothing to withdraw');
      await withdraw(world, tab, changeset);
    })
    .catch((thrown: RockpoolError) => {
      if (!tab.owner.isAlive) return;
      world.note(`${number} withdraw waiting: ${thrown.code}`);
      if (!isHonest(tab, thrown)) world.fault(`withdrawing failed with ${thrown.message}`);
    });
}

async function withdraw({ model, tally }: World, tab: Tab, { id, changes }: WaitingChangeset): Promise<void> {
  const { name } = tab.device;
  // Edits of a document by its Y.Doc have no mark.
  const mark = changes.find(({ table, kind }) => table === 'mark' && kind === 'insert')?.key[0];
  model.withdrawals.ask(name, mark === undefined ? null : String(mark));
  const sites = new Set(model.sitesOf(name, String(mark)));
  const isWithdrawn = (await tab.membership.write([], { kind: 'withdraw', id })).length > 0;
  if (!tab.owner.isAlive) return;
  tally.add(isWithdrawn ? 'transaction withdrawn' : 'transaction decided before it was withdrawn');
  if (!isWithdrawn) return;
  const sent = model.wasSent(name, String(mark));
  if (mark === undefined) tally.add('withdrawal not judged: no mark');
  // A copy of the file may send it, too.
  else if (model.shared.has(String(mark))) tally.add('withdrawal not judged: shared with a copy');
  else model.withdrawals.record(String(mark), { device: name, sites, wasSent: sent });
}
