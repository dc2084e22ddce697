import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import type { Subject } from '../subject-writes.ts';
import { writeApart } from './write-apart.ts';

const EDITS: readonly Subject[] = ['first day', 'last day', 'trip title'];

/** Deletes a row while others change a column group, which restores the row with the whole group. */
export async function editDeletedTrip(world: World, device: Device, random: Random, number: number): Promise<void> {
  const edits = Array.from({ length: 1 + random.below(3) }, () => random.pick(EDITS));
  const deletes: Subject[] = random.chance(0.3) ? ['first day', 'drop trip'] : ['drop trip', 'drop trip'];
  world.tally.add('group changed of a deleted row');
  await writeApart(world, device, random, number, [edits, deletes], ['trip', 'trip']);
}
