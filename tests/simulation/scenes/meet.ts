import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { send, writeAt } from '../sending.ts';
import type { World } from '../world.ts';
import { dropEveryPage } from '../writes.ts';
import { COMMON_SUBJECTS } from './common-subjects.ts';

/**
 * Two devices write the same cells while one is offline. The offline device writes them again while the other's update
 * and its own outcome are in flight. It may also delete the pages that it edited. Its own edit is then the last edit
 * that it knows: it has not seen the other device's edit, which the server has.
 */
export async function meet(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  const subject = random.pick(COMMON_SUBJECTS);
  let part = 0;
  const writeBoth = (who: Device): void => writeAt(world, who, random, `${who.name}-${number}.${part++}`, subject);
  for (const connection of network.connectionsOf(device)) connection.cut({ clientHears: true, serverHears: true });
  network.partition(device, true);
  device.isSlow = true;
  if (random.chance(0.7)) writeBoth(device);
  await time.advance(random.below(50));
  writeBoth(other);
  if (part < 2) writeBoth(device);
  const [tab] = device.usableTabs;
  if (tab !== undefined && subject.startsWith('page') && random.chance(0.3))
    send(
      world,
      tab,
      `${device.name}-${number}.drop`,
      dropEveryPage(tab, random, `${device.name}-${number}.drop`),
      false,
    );
  await time.advance(random.below(1_000));
  network.partition(device, false);
  const cursor = (): number | undefined => device.leader?.opened?.database.meta.cursor;
  const before = cursor();
  for (let waits = 0; waits < 100 && cursor() === before; waits++) await time.advance(200);
  for (let again = random.below(3); again >= 0; again--) {
    await time.advance(random.below(300));
    writeBoth(device);
  }
  device.isSlow = random.chance(0.5);
}
