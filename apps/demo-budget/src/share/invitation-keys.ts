import { isShareKey, makeShareKey } from '../budget/budget.ts';
import type { DeviceItems } from '../budget/device-items.ts';

/**
 * For each invitation that this device has not accepted yet, the device's storage holds the key that it offers. If the
 * response to an acceptance is lost, the next attempt sends the same key, and the server accepts it again.
 */

const itemName = 'invitation-keys';

/** The key for an invitation: the one of an earlier attempt, otherwise a new one. */
export function invitationKey(items: DeviceItems, code: string): string {
  const keys = invitationKeys(items);
  const known = keys.get(code);
  if (known !== undefined) return known;
  const key = makeShareKey();
  keep(items, keys.set(code, key));
  return key;
}

export function forgetInvitationKey(items: DeviceItems, code: string): void {
  const keys = invitationKeys(items);
  keys.delete(code);
  keep(items, keys);
}

function keep(items: DeviceItems, keys: ReadonlyMap<string, string>): void {
  items.setItem(itemName, JSON.stringify([...keys]));
}

function invitationKeys(items: DeviceItems): Map<string, string> {
  const stored = items.getItem(itemName);
  const pairs = stored === null ? [] : (JSON.parse(stored) as [string, string][]);
  return new Map(pairs.filter(([, key]) => isShareKey(key)));
}
