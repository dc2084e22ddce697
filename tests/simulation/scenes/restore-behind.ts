import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import type { World } from '../world.ts';
import { COMMON_SUBJECTS } from './common-subjects.ts';

/**
 * Restores the server from a backup. A device that knows nothing of the lost changesets writes first; those that know
 * them come later.
 */
export async function restoreBehind(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { devices, network, server, time } = world;
  const subject = random.pick(COMMON_SUBJECTS);
  const others = devices.filter((one) => one !== device);
  let part = 0;
  const writeBy = (who: Device): void => writeAt(world, who, random, `${who.name}-${number}.${part++}`, subject);
  await time.advance(random.below(2_000));
  server.backUp();
  network.partition(device, true);
  for (let more = 1 + random.below(3); more > 0; more--) {
    writeBy(random.pick(others));
    await time.advance(random.below(1_000));
  }
  for (const other of others) network.partition(other, true);
  if (random.chance(0.5)) writeBy(random.pick(others));
  if (server.restore()) world.onRestored();
  network.partition(device, false);
  await time.advance(2_000);
  for (let more = 1 + random.below(5); more > 0; more--) {
    writeBy(device);
    await time.advance(random.below(500));
  }
  for (const other of others) network.partition(other, false);
}
