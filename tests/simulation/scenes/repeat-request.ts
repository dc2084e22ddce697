import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import { STALE_MS } from '../silence-check.ts';
import type { World } from '../world.ts';

const RECONNECTED_MS = 12_000;

/**
 * The response that brings a commit to a session over HTTP is lost, and the browser repeats the request by itself, and
 * so with any other request that is under way. Then nothing else is written for a while.
 */
export async function repeatRequest(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, devices } = world;
  server.start();
  for (const one of devices) network.partition(one, false);
  await world.time.advance(RECONNECTED_MS);
  for (const reader of devices.filter((one) => one !== device))
    for (const connection of network.connectionsOf(reader)) connection.mangle('repeat');
  writeAt(world, device, random, `${device.name}-${number}`);
  await world.time.advance(STALE_MS + random.below(RECONNECTED_MS));
}
