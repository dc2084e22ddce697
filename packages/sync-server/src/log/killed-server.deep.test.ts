import { expect, it } from 'vitest';
import { checkKilledServer } from '../../testing/killed-server.ts';

it('a killed server keeps every acknowledged changeset exactly once through 100 kills during admission', async () => {
  await expect(checkKilledServer({ changesets: 20_000, kills: 100 })).resolves.toBeUndefined();
});
