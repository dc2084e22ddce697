import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import type { World } from '../world.ts';

const LONGEST_COMMIT_MS = 2_000;
const WITHOUT_POLLS_MS = 5_000;

/**
 * Restores PostgreSQL below running instances, and lets one of them make as many commits as the restore reverted:
 * another instance then finds the commit number that it knows, but for a different commit.
 */
export async function restoreBelow(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { devices, network, server, time } = world;
  if (server.instances === 1) return;
  server.start();
  for (const one of devices) network.partition(one, false);
  await time.advance(LONGEST_COMMIT_MS);
  let part = 0;
  const writeBy = (who: Device): void => writeAt(world, who, random, `${who.name}-${number}.${part++}`, 'note');
  server.backUp();
  const before = server.watermark;
  writeBy(device);
  for (let waited = 0; waited < LONGEST_COMMIT_MS && server.watermark === before; waited += 20) await time.advance(20);
  // Waits for a random time, so that none, some or all instances have followed the last commit.
  await time.advance(random.below(60));
  if (random.chance(0.7)) server.failPolls(WITHOUT_POLLS_MS);
  if (!server.restore('always')) return;
  world.onRestored();
  world.tally.add('restored below instances');
  for (let again = 0; again < 8; again++) {
    writeBy(random.chance(0.5) ? device : random.pick(devices));
    await time.advance(random.below(500));
  }
}
