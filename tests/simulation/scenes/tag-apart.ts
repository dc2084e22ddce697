import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { writeApart } from './write-apart.ts';

/**
 * Rows that are a key and nothing beside it, made by two; one of them deletes it again before the other is heard of.
 */
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
