import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';

test('amounts have the decimals of their currency, and totals never mix two currencies', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Yen', currency: 'JPY', kind: 'Cash' });
  await addEntry(page, { payee: 'Noodles', amount: '1200', category: 'Eating out' });
  await addAccount(page, { name: 'Dinar', currency: 'KWD', opening: '1.234' });
  await addEntry(page, { payee: 'Tea', amount: '0.005', category: 'Eating out' });
  await expect(ledgerRow(page, 'Tea')).toContainText('-KWD 0.005');
  await goTo(page, 'Accounts');
  await expect(page.getByRole('main')).toContainText('-JP¥1,200');
  await expect(page.getByRole('main')).toContainText('KWD 1.229');
  await goTo(page, 'Budget');
  const spent = page.getByRole('row', { name: /Eating out/ });
  await expect(spent).toContainText('¥1,200');
  await page.getByLabel('Currency').selectOption('KWD');
  await expect(spent).toContainText('KWD 0.005');
});
