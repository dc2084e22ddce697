import { withDeviceItems } from '../budget/device-items.ts';
import { rememberJoined, type KnownBudget } from '../budget/known-budgets.ts';
import { keepPersonName } from '../people/person-name.ts';
import { forgetInvitationKey, invitationKey } from './invitation-keys.ts';
import { join } from './members.ts';

/**
 * Redeems an invitation on this device. Resolves to the budget to open, once this device has stored it. Rejects like
 * `join`, and with a `DOMException` if the browser stores nothing for this page.
 */
export async function acceptInvitation(code: string, name: string): Promise<KnownBudget> {
  // Comes first, because a code works for one key only. A browser that stores nothing must not use it up, and a device
  // that never received the response must still have the key for its next attempt.
  const key = await withDeviceItems((items) => {
    keepPersonName(items, name);
    return invitationKey(items, code);
  });
  const joined = await join(code, name.trim(), key);
  return await withDeviceItems((items) => {
    forgetInvitationKey(items, code);
    return rememberJoined(items, joined);
  });
}
