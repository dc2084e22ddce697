import type { DeviceItems } from './device-items.ts';

const itemName = 'device';

/**
 * By which name this device appears in the conflict log, so that a person can tell "this device" from "another device".
 * Random; it proves nothing, and needs not: everyone who has a budget's link may do everything in it.
 */
export function deviceName(items: DeviceItems): string {
  const known = items.getItem(itemName);
  if (known !== null && /^device-[0-9a-f]{8}$/.test(known)) return known;
  const random = crypto.getRandomValues(new Uint8Array(4));
  const name = `device-${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  items.setItem(itemName, name);
  return name;
}
