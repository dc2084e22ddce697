import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { writeApart } from './write-apart.ts';

/** Two devices insert the same key-only row; one deletes it before it learns of the other. */
export async function tagApart(world: World, device: Device, random: Random, number: number): Promise<void> {
  world.tally.add('row of a key alone');
  await writeApart(
    world,
    device,
    random,
    number,
    [
      ['tag', 'tag', 'tag'],
      ['tag', 'tag', 'drop tag', 'tag', 'drop tag'],
    ],
    ['drop tag', 'drop tag'],
  );
}
