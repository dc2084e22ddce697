import type { RockpoolError } from '#shared/index.ts';
import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { isHonest, send } from '../sending.ts';
import type { World } from '../world.ts';
import { conflictsSeen } from '../seen-rows.ts';
import { countIn } from '../writes.ts';

/** A user restores a lost value from the conflict log; for a counter, the user adds the lost amount again. */
export function restoreLoss(world: World, device: Device, random: Random, mark: string, ofRow?: string): void {
  const [tab] = device.usableTabs;
  if (tab === undefined) return;
  const conflicts = conflictsSeen(tab).filter(({ key }) => ofRow === undefined || key === ofRow);
  if (conflicts.length === 0) return;
  const { id, table, key, lost } = random.pick(conflicts);
  const isCounter = table === 'tally';
  tab
    .run(() => tab.membership.write([], { kind: 'restore-conflict', conflictId: id }))
    .then(
      () => {
        world.note(`${mark} restored ${id}`);
        world.tally.add('restored from the ledger');
        if (isCounter) world.fault(`${mark} restored a counter`);
      },
      (thrown: RockpoolError) => {
        if (!tab.owner.isAlive) return;
        world.note(`${mark} did not restore ${id}: ${thrown.code}`);
        if (!isHonest(tab, thrown) && thrown.code !== 'conflict-not-restorable')
          world.fault(`${mark} failed to restore ${id} with ${thrown.message}`);
      },
    );
  if (!isCounter) return;
  world.tally.add('addition made again from the ledger');
  send(world, tab, mark, countIn(tab, mark, key, lost as bigint), false);
}
