import { expect, test, throughGateway } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('an unknown address shows a page with a link to the budget', async ({ newPerson }) => {
  const { page, gateway } = await newPerson({ keepsAppFiles: true });
  await expectUpToDate(page);
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const response = await page.goto(`${gateway.url}budgets/1`);
  expect(response?.status()).toBe(404);
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await page.getByRole('link', { name: 'Open your budget' }).click();
  await expect(page.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
});

test('a shared budget whose data has not arrived is not shown as one without accounts', async ({ newPerson }) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(anna);
  const link = await shareLink(anna);
  const { page: ben, gateway } = await newPerson();
  const welcome = ben.getByRole('heading', { name: 'A budget that lives on your device' });
  await expect(welcome).toBeVisible();
  gateway.refuseSync();
  await ben.goto('about:blank');
  await ben.goto(throughGateway(link, gateway));
  await expect(ben.getByRole('main')).toContainText('they may still be syncing');
  await expect(welcome).toBeHidden();
  gateway.restore();
  await expect(ben.getByRole('main').getByRole('link', { name: /Household/ })).toBeVisible();
});
