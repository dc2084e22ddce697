import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { write } from '../sending.ts';
import type { World } from '../world.ts';

/** Frames of an ended connection arrive together with the hello of the next one. */
export async function latePush(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { leader } = device;
  if (leader === undefined) return;
  write(world, leader, random, `${device.name}-${number}`);
  await world.time.advance(0);
  const lateMs = 200 + random.below(400);
  for (const connection of world.network.connectionsOf(device)) connection.abandon(lateMs);
  await world.time.advance(random.below(lateMs));
  world.stallServer(200 + random.below(800));
  await world.time.advance(random.below(1_000));
}
