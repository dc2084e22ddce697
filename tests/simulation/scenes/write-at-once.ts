import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { writeAt } from '../sending.ts';
import type { World } from '../world.ts';
import { COMMON_SUBJECTS } from './common-subjects.ts';

/** Two devices write the same cell in the same millisecond: with equal delays their stamps are equal. */
export function writeAtOnce(world: World, device: Device, random: Random, number: number): void {
  const subject = random.pick(COMMON_SUBJECTS);
  const other = random.pick(world.devices.filter((one) => one !== device));
  for (const who of [device, other]) writeAt(world, who, random, `${who.name}-${number}`, subject);
}
