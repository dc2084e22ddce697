import { RockpoolError } from '@rockpool/shared';
import type { Outbox } from '../changelog/outbox.ts';
import type { Meta } from './meta.ts';

/**
 * Keeps what one person wrote from being sent as another's. A database belongs to nobody until someone signs in, and
 * what was written before is theirs then. It passes to another person only when nothing of the first is left to send.
 * Null: the app does not say who is signed in.
 *
 * Throws `other-principal` with the number of changes that wait; nothing is changed then.
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
  // Who leads says whose it is; a reader has to be the same.
  if (role === 'reader' || (known !== null && pendingCount > 0))
    throw new RockpoolError('other-principal', { pendingCount });
  meta.set('principal', principal);
}
