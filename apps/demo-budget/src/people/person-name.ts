import type { DeviceItems } from '../budget/device-items.ts';

const itemName = 'person';

/** Longer names do not fit beside a cursor. */
const maxNameLength = 40;

/** The name that others see for this user; empty if not set. */
export function personName(items: DeviceItems): string {
  const name = items.getItem(itemName);
  return isPersonName(name) ? name : '';
}

export function keepPersonName(items: DeviceItems, name: string): void {
  items.setItem(itemName, name.trim().slice(0, maxNameLength).toWellFormed());
}

export function isPersonName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= maxNameLength;
}
