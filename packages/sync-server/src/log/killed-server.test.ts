import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkKilledServer } from '../../testing/killed-server.ts';

it('keeps every acknowledged changeset exactly once when it is killed during admission', async () => {
  await expect(
    checkKilledServer(atLevel({ test: { changesets: 800, kills: 2 }, verify: { changesets: 2_000, kills: 5 } })),
  ).resolves.toBeUndefined();
});
