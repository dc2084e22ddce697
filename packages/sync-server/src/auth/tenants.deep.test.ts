import { expect, it } from 'vitest';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { SEEN_EVERYWHERE, TenantTrial } from '../../testing/tenants/tenant-trial.ts';

const trial = new TenantTrial();
const tested = serverUnderTest(trial.options);

it('the server sends no byte of one tenant to another in 10,000 histories', { timeout: 2 * 3_600_000 }, async () => {
  expect(await trial.run([tested.server], 10_000)).toEqual(SEEN_EVERYWHERE);
});
