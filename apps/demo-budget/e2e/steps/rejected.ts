import { expect, type Locator, type Page } from 'playwright/test';
import type { Person, PersonOptions } from '../harness/test.ts';
import { addAccount, openAccount } from './accounts.ts';
import { addEntry } from './entries.ts';
import { shareLink } from './navigation.ts';
import { expectUpToDate } from './sync.ts';

/** The number of rejected changes, on every page. */
export function rejectedBadge(page: Page): Locator {
  return page.getByTestId('rejected-badge');
}

/** The rejected changes on the sync page. */
export function rejectedCard(page: Page): Locator {
  return page.getByRole('region', { name: 'Rejected changes' }).getByRole('listitem');
}

/** Ben's entry is rejected, because Anna has deleted its account meanwhile. */
export async function rejectAnEntry(
  newPerson: (options?: PersonOptions) => Promise<Person>,
): Promise<{ anna: Person; ben: Person }> {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '100' });
  await addAccount(anna.page, { name: 'Trip', currency: 'USD', opening: '0' });
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page), keepsAppFiles: true });
  await openAccount(ben.page, 'Trip');
  await expectUpToDate(ben.page);
  await ben.goOffline();
  await addEntry(ben.page, { payee: 'Ferry', amount: '12' });
  await anna.page.evaluate(() => rockpool.execute("DELETE FROM accounts WHERE name = 'Trip'"));
  await expectUpToDate(anna.page);
  await ben.goOnline();
  await expect(rejectedBadge(ben.page)).toHaveText('1 rejected');
  return { anna, ben };
}
