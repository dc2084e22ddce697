import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import { TOMBSTONES_MS } from '../server-host.ts';
import type { World } from '../world.ts';
import type { Subject } from '../subject-writes.ts';

/** A device is offline while others delete a row; the tombstone is gone when it returns. */
export async function forgottenDelete(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  const [made, dropped] = random.pick([
    ['plan', 'drop plan'],
    ['entry', 'drop entry'],
    ['label', 'drop label'],
  ] as const);
  let part = 0;
  const writeOther = (subject?: Subject): void =>
    writeAt(world, other, random, `${other.name}-${number}.${part++}`, subject);
  server.start();
  for (const both of [device, other]) network.partition(both, false);
  writeOther(made);
  await time.advance(random.below(4_000));
  network.partition(device, true);
  writeOther(dropped);
  await time.advance(TOMBSTONES_MS + random.below(2_000));
  writeOther();
  await time.advance(random.below(1_000));
  network.partition(device, false);
}
