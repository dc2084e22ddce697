import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import type { World } from '../world.ts';
import type { Subject } from '../subject-writes.ts';

const SETTLING_MS = 3_000;
const OPENING_MS = 1_500;

/** The app of a device is updated, or a faulty version is rolled back. */
export async function changeApp(world: World, device: Device, random: Random, number: number): Promise<void> {
  if (!world.hasOlderApps) return;
  if (device.app === 'newer') {
    if (random.chance(0.3)) device.rollBackApp();
    return;
  }
  if (random.chance(0.5)) device.updateApp();
  else await updateApart(world, device, random, number);
}

/**
 * Others write columns that a device does not know, and the device receives the columns that it has of these rows. Then
 * its app is updated while it is offline, and the user writes the same columns, which seem to be empty.
 */
async function updateApart(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { devices, network, server, time } = world;
  const others = devices.filter((one) => one.app === 'newer');
  if (others.length === 0) return device.updateApp();
  const other = random.pick(others);
  let part = 0;
  const writeAll = (who: Device, subjects: readonly Subject[]): void => {
    for (const subject of subjects) writeAt(world, who, random, `${who.name}-${number}.${part++}`, subject);
  };
  server.start();
  for (const both of [device, other]) network.partition(both, false);
  writeAll(other, ['plan', 'trip', 'detail', 'trip title']);
  await time.advance(random.below(SETTLING_MS));
  network.partition(device, true);
  writeAll(device, ['title']);
  device.updateApp();
  await time.advance(OPENING_MS);
  writeAll(device, ['detail', 'trip title', 'detail', 'trip title', 'tag', 'drop plan']);
  writeAll(other, random.chance(0.5) ? ['detail', 'trip title'] : []);
  await time.advance(random.below(SETTLING_MS));
  network.partition(device, false);
}
