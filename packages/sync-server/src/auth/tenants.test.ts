import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { SEEN_EVERYWHERE, TenantTrial } from '../../testing/tenants/tenant-trial.ts';

const trial = new TenantTrial();
const tested = serverUnderTest(trial.options);

it('the server sends no byte of one tenant to another, and writes none to logs and errors', async () => {
  expect(await trial.run([tested.server], atLevel({ test: 12, verify: 200 }))).toEqual(SEEN_EVERYWHERE);
});
