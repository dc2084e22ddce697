import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import { STALE_MS } from '../silence-check.ts';
import type { World } from '../world.ts';

/** Time in which clients reconnect over HTTP, after an attempt by a WebSocket that is refused. */
const RECONNECTED_MS = 12_000;

/**
 * A server stops slowly while its clients reconnect, and its program keeps running. Every client must learn of a later
 * commit.
 */
export async function stopBesideClients(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, devices } = world;
  for (const one of devices) network.partition(one, false);
  server.start();
  await world.time.advance(random.below(RECONNECTED_MS));
  server.stop({ lateMs: random.below(RECONNECTED_MS), exits: false });
  await world.time.advance(RECONNECTED_MS + random.below(RECONNECTED_MS));
  writeAt(world, device, random, `${device.name}-${number}`);
  await world.time.advance(STALE_MS + random.below(RECONNECTED_MS));
}
