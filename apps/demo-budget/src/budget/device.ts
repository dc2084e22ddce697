const storageKey = 'rockpool-demo.device';

/**
 * By which name this device appears in the conflict ledger, so that a person can tell "this device" from "another device". Random; it
 * proves nothing, and needs not: everyone who has a budget's link may do everything in it.
 */
export function deviceName(storage: Storage): string {
  const known = storage.getItem(storageKey);
  if (known !== null && /^device-[0-9a-f]{8}$/.test(known)) return known;
  const random = crypto.getRandomValues(new Uint8Array(4));
  const name = `device-${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  storage.setItem(storageKey, name);
  return name;
}
