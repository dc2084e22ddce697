import { expect, it } from 'vitest';
import { checkKilledBackup } from '../../testing/killed-backup.ts';

it('has a restorable state after each of 20 kills during copying, and every state that was copied', async () => {
  await expect(checkKilledBackup({ changesets: 4_000, kills: 20 })).resolves.toBeUndefined();
});
