import type { DeviceItems } from './device-items.ts';

const itemName = 'device';

/**
 * The name under which this device appears in the conflict log, so that a user can tell "this device" from "another
 * device". It is random and authenticates nothing. That is not needed, because anyone with the share link may change
 * everything in the budget.
 */
export function deviceName(items: DeviceItems): string {
  const known = items.getItem(itemName);
  if (known !== null && /^device-[0-9a-f]{8}$/.test(known)) return known;
  const random = crypto.getRandomValues(new Uint8Array(4));
  const name = `device-${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  items.setItem(itemName, name);
  return name;
}
