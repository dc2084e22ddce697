import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import type { Subject } from '../subject-writes.ts';
import { writeApart } from './write-apart.ts';

const MEETINGS: readonly (readonly [readonly Subject[], readonly Subject[]])[] = [
  [
    ['key of entry', 'key of entry'],
    ['drop account', 'drop account', 'drop account'],
  ],
  [
    ['key of account', 'key of account'],
    ['entry', 'entry', 'label', 'move entry'],
  ],
  [
    ['key of account', 'key of account'],
    ['drop account', 'drop account', 'entry note'],
  ],
  [
    ['key of account', 'key of entry'],
    ['key of entry', 'key of account'],
  ],
];

/**
 * Changes the key of a child while others delete its parent, or the key of a parent while others add children or move
 * rows below it.
 */
export async function changeKeys(world: World, device: Device, random: Random, number: number): Promise<void> {
  world.tally.add('changed key');
  await writeApart(world, device, random, number, random.pick(MEETINGS), ['account', 'entry', 'entry']);
}
