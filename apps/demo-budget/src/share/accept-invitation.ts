import { withDeviceItems } from '../budget/device-items.ts';
import { rememberJoined, type KnownBudget } from '../budget/known-budgets.ts';
import { keepPersonName } from '../people/person-name.ts';
import { join } from './members.ts';

/**
 * Redeems an invitation on this device. Resolves to the budget to open, once this device has stored it. Rejects like
 * `join`, and with a `DOMException` if the browser stores nothing for this page.
 */
export async function acceptInvitation(code: string, name: string): Promise<KnownBudget> {
  // Comes first, because a code works only once: a browser that stores nothing must not use it up.
  await withDeviceItems((items) => keepPersonName(items, name));
  const joined = await join(code, name.trim());
  return await withDeviceItems((items) => rememberJoined(items, joined));
}
