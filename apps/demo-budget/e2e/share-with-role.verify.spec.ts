import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { goTo } from './steps/navigation.ts';
import { invite, join } from './steps/share.ts';
import { expectUpToDate } from './steps/sync.ts';

test('an invitation works once', async ({ newPerson }) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(anna);
  const link = await invite(anna, 'editor');
  const { page: ben } = await newPerson({ link });
  await join(ben, 'Ben');
  await openAccount(ben, 'Household');

  const { page: carla } = await newPerson({ link });
  await join(carla, 'Carla');
  await expect(carla.getByRole('alert')).toContainText('was already used');

  await goTo(ben, 'Share');
  await ben.getByRole('button', { name: 'Leave this budget …' }).click();
  await ben.getByRole('button', { name: 'Leave this budget', exact: true }).click();
  await expect(ben.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
  await goTo(anna, 'Share');
  await expect(anna.getByText('No other members.')).toBeVisible();
});
