import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import type { World } from '../world.ts';
import type { Subject } from '../subject-writes.ts';

/** Runs the steps of two disconnected devices. Either may reach the server first. */
export async function writeApart(
  world: World,
  device: Device,
  random: Random,
  number: number,
  [first, second]: readonly [readonly Subject[], readonly Subject[]],
  before: readonly Subject[],
): Promise<void> {
  const { network, server, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  let part = 0;
  const writeAll = (who: Device, subjects: readonly Subject[]): void => {
    for (const subject of subjects) writeAt(world, who, random, `${who.name}-${number}.${part++}`, subject);
  };
  server.start();
  for (const both of [device, other]) network.partition(both, false);
  writeAll(other, before);
  await time.advance(random.below(3_000));
  network.partition(device, true);
  const isFirst = random.chance(0.5);
  writeAll(device, isFirst ? first : second);
  await time.advance(random.below(500));
  writeAll(other, isFirst ? second : first);
  await time.advance(random.below(2_000));
  network.partition(device, false);
}
