import { expect, it } from 'vitest';
import { serverUnderTest } from '../testing/server-under-test.ts';
import { checkTenants } from '../testing/tenant-canaries.ts';

const tested = serverUnderTest();

it('tenants of one server never get a byte of each other in 1,000 histories', async () => {
  await expect(checkTenants(tested.server, 1_000)).resolves.toBeUndefined();
});
