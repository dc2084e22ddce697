import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import type { World } from '../world.ts';
import type { Subject } from '../subject-writes.ts';
import { writeApart } from './write-apart.ts';

const SETTLING_MS = 3_000;

const MEETINGS: readonly (readonly [readonly Subject[], readonly Subject[]])[] = [
  [
    ['guest', 'guest', 'move guest'],
    ['drop room', 'drop room'],
  ],
  [
    ['half guest', 'half guest', 'half guest'],
    ['drop room', 'room note'],
  ],
  [
    ['move guest', 'half guest'],
    ['drop room', 'room', 'guest'],
  ],
  [
    ['room', 'guest'],
    ['room', 'drop room', 'half guest'],
  ],
];

/** Meetings of guests who stay without a room. */
const LOOSE_MEETINGS: readonly (readonly [readonly Subject[], readonly Subject[]])[] = [
  [
    ['loose guest', 'loose guest', 'move loose guest'],
    ['drop room', 'drop room'],
  ],
  [
    ['loose guest', 'move loose guest', 'move loose guest'],
    ['drop room', 'room', 'drop room'],
  ],
];

/** Meetings of projects that cannot be deleted while a task references them. */
const TASK_MEETINGS: readonly (readonly [readonly Subject[], readonly Subject[]])[] = [
  [
    ['task', 'task', 'move task'],
    ['drop project', 'drop project'],
  ],
  [
    ['move task', 'project title'],
    ['drop project', 'task'],
  ],
];

/**
 * Adds children to a parent while others delete or re-create it: a parent with a composite key, under every delete
 * action, or a project, which its tasks prevent from being deleted.
 */
export async function meetInRooms(world: World, device: Device, random: Random, number: number): Promise<void> {
  if (random.chance(0.3)) {
    world.tally.add('children that lose their parent');
    await writeApart(world, device, random, number, random.pick(LOOSE_MEETINGS), ['room', 'room', 'loose guest']);
    if (random.chance(0.3)) await rebuild(world, random, number);
    return;
  }
  if (random.chance(0.4)) {
    world.tally.add('children that keep their parent');
    return writeApart(world, device, random, number, random.pick(TASK_MEETINGS), [
      'project',
      'project',
      'task',
      'task',
    ]);
  }
  world.tally.add('children of a key of two columns');
  await writeApart(world, device, random, number, random.pick(MEETINGS), ['lobby', 'room', 'room', 'guest', 'guest']);
  if (random.chance(0.5)) await rebuild(world, random, number);
}

/** All devices see the deletes, and one of them re-creates the parents: children deleted before stay deleted. */
async function rebuild(world: World, random: Random, number: number): Promise<void> {
  const builder = random.pick(world.devices);
  world.server.start();
  world.network.partition(builder, false);
  await world.time.advance(SETTLING_MS);
  for (let part = 0; part < 4; part++)
    writeAt(world, builder, random, `${builder.name}-${number}.again${part}`, 'room');
}
