import { expect, it } from 'vitest';
import { checkKilledServer } from '../../testing/killed-server.ts';

it('has every acknowledged changeset after 100 kills while it admits, each exactly once', async () => {
  await expect(checkKilledServer({ changesets: 20_000, kills: 100 })).resolves.toBeUndefined();
});
