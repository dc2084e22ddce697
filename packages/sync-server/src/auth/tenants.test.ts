import { expect, it } from 'vitest';
import { serverUnderTest } from '../testing/server-under-test.ts';
import { checkTenants } from '../testing/tenant-canaries.ts';

const tested = serverUnderTest();

it('tenants of one server never get a byte of each other, nor do logs and errors hold one', { timeout: 120_000 }, async () => {
  await expect(checkTenants(tested.server, 40)).resolves.toBeUndefined();
});
