import { expect, it } from 'vitest';
import { checkKilledServer } from '../testing/killed-server.ts';

it('has every acknowledged changeset after it was killed while it admits, each exactly once', { timeout: 120_000 }, async () => {
  await expect(checkKilledServer({ changesets: 2_000, kills: 5 })).resolves.toBeUndefined();
});
