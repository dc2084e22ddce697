import { RockpoolError } from '@rockpool/shared';
import type { Outbox } from '../changelog/outbox.ts';
import type { Meta } from '../file/meta.ts';

/**
 * Prevents one user's writes from being sent as another's. A database belongs to no user until a user signs in; the
 * earlier writes then belong to that user too. It passes to a different user only when the first one has nothing left
 * to send. `principal` is null when the app names no user.
 *
 * Throws `other-principal` with the number of pending changes, and then changes nothing.
 */
export function requirePrincipal(
  meta: Meta,
  outbox: Outbox,
  principal: string | null,
  role: 'writer' | 'reader',
): void {
  if (principal === null) return;
  const known = meta.get('principal') ?? null;
  if (known === principal) return;
  const pendingCount = outbox.pendingCount();
  // The leader sets the principal; a reader must have the same one.
  if (role === 'reader' || (known !== null && pendingCount > 0))
    throw new RockpoolError('other-principal', { pendingCount });
  meta.set('principal', principal);
}
