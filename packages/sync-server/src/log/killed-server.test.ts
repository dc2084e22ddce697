import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkKilledServer } from '../../testing/killed-server.ts';

it('a killed server keeps every acknowledged changeset exactly once', async () => {
  await expect(
    checkKilledServer(atLevel({ test: { changesets: 800, kills: 2 }, verify: { changesets: 2_000, kills: 5 } })),
  ).resolves.toBeUndefined();
});
