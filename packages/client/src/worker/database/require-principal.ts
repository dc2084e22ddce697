import { RockpoolError } from '@rockpool/shared';
import { Changelog } from '../changelog/changelog.ts';
import { Outbox } from '../changelog/outbox.ts';
import type { Meta } from '../file/meta.ts';
import type { Connection } from '../sqlite/connection.ts';

/**
 * Prevents one user's writes from being sent as another's. A database belongs to no user until a user signs in; the
 * earlier writes then belong to that user too. It passes to a different user only when the first one has nothing left
 * to send. From then on, the first one's writes are not sent again, even to a server that was restored from a backup
 * and has lost them. `principal` is null when the app names no user.
 *
 * Throws `other-principal` with the number of pending changes, and then changes nothing.
 */
export function requirePrincipal(
  connection: Connection,
  meta: Meta,
  principal: string | null,
  role: 'writer' | 'reader',
): void {
  if (principal === null) return;
  const known = meta.get('principal') ?? null;
  if (known === principal) return;
  const changelog = new Changelog(connection);
  const pendingCount = new Outbox(connection, changelog).pendingCount();
  // The leader sets the principal; a reader must have the same one.
  if (role === 'reader' || (known !== null && pendingCount > 0))
    throw new RockpoolError('other-principal', { pendingCount });
  connection.exec('BEGIN IMMEDIATE'); // After an error, the database is closed, which rolls back.
  if (known !== null) {
    meta.set('first_of_principal', changelog.head().sequence + 1);
    meta.set('user_may_write', null);
    meta.set('token_sub', null);
    connection.exec('DELETE FROM rockpool_changelog WHERE kept_ms IS NOT NULL');
  }
  meta.set('principal', principal);
  connection.exec('COMMIT');
}
