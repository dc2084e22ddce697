import { expect, it } from 'vitest';
import { checkKilledBackup } from '../../testing/killed-backup.ts';

it('the backup has every copied state and is restorable after each of 20 kills during copying', async () => {
  await expect(checkKilledBackup({ changesets: 4_000, kills: 20 })).resolves.toBeUndefined();
});
