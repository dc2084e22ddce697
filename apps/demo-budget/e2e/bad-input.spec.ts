import type { Route } from 'playwright/test';
import { isThorough } from './harness/level.ts';
import { expect, test } from './harness/test.ts';
import { serverDatabase } from './harness/server-database.ts';
import { claimsOf, secretOf, signToken } from './harness/tokens.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage, syncBadge } from './steps/sync.ts';

test.describe('a file that is not a bank statement', () => {
  const files: readonly (readonly [name: string, contents: string | Uint8Array, sentence: RegExp])[] = [
    ['empty.csv', '', /This file is empty/],
    ['noise.csv', Uint8Array.from({ length: 4_096 }, (_, index) => (index * 73) % 256), /not a text file/],
    ['statement.csv', '%PDF-1.7\n%âãÏÓ', /This is a PDF/],
    ['sheet.csv', Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0, 6, 0), /This is a spreadsheet/],
    ['login.csv', '<!doctype html><html><body>Your session has expired</body></html>', /This is a web page/],
    ['prose.csv', 'Dear customer\nyour statement is ready\n', /plain text without columns/],
    ['cut.csv', 'Date,Payee,Amount\n2025-06-01,"Baker,1.00\n2025-06-02,Rent,2.00\n', /row 2 is not closed/],
  ];

  test('is rejected with a reason, and the next valid file is imported', async ({ newPerson }) => {
    const { page } = await newPerson();
    await addAccount(page, { name: 'Giro', currency: 'EUR' });
    for (const [name, contents, sentence] of files) {
      await chooseFile(page, { name, contents });
      await expect(page.getByRole('alert'), name).toHaveText(sentence);
    }
    await chooseFile(page, {
      name: 'good.csv',
      contents: 'Date,Payee,Amount\n2025-06-01,Baker,-1.00\n2025-06-02,Rent,-2.00\n',
    });
    await importPreviewed(page, 2);
    await openAccount(page, 'Giro');
    await expectBalance(page, '-€3.00', '2 entries');
  });
});

test.describe('a token that the server rejects', () => {
  const cases: readonly {
    readonly name: string;
    readonly code: string;
    readonly token: (real: string, secret: Uint8Array) => string;
  }[] = [
    {
      name: 'expired',
      code: 'auth-token-expired',
      token: (real, secret) => signToken({ ...claimsOf(real), nbf: 1_000, exp: 2_000 }, secret),
    },
    {
      name: 'signed by someone else',
      code: 'auth-token-invalid',
      token: (real) => signToken(claimsOf(real), new Uint8Array(32).fill(7)),
    },
    {
      name: 'for another budget',
      code: 'auth-database-forbidden',
      token: (real, secret) => signToken({ ...claimsOf(real), databases: ['f'.repeat(32)] }, secret),
    },
    { name: 'no token at all', code: 'auth-token-invalid', token: () => 'hello' },
  ];
  // To the page, they differ in the code alone.
  for (const { name, code, token } of isThorough ? cases : cases.slice(0, 1)) {
    test(`${name}: sync stops with a reason, local work continues, and everything is sent once the token is valid`, async ({
      newPerson,
      server,
    }) => {
      const { page } = await newPerson();
      await addAccount(page, { name: 'Cash', currency: 'EUR' });
      await expectUpToDate(page);
      const link = await shareLink(page);

      const badTokens = async (route: Route): Promise<void> => {
        const response = await route.fetch();
        const { token: real } = (await response.json()) as { token: string };
        await route.fulfill({ response, json: { token: token(real, secretOf(server.dataFolder)) } });
      };
      await page.route(/\/api\/(token|budgets)$/, badTokens);
      await page.reload();
      await expect(syncBadge(page)).toHaveText('No access');
      await openAccount(page, 'Cash');
      await addEntry(page, { payee: 'Kept', amount: '1' });
      await expect(syncBadge(page)).toHaveText('No access · 1 to sync');
      await openSyncPage(page);
      await expect(page.getByRole('main')).toContainText(code);
      const stored = serverDatabase(server.dataFolder, link);
      expect(stored.value('SELECT count(*) FROM entries')).toBe(0);

      await page.unroute(/\/api\/(token|budgets)$/, badTokens);
      await page.reload();
      await expectUpToDate(page);
      expect(stored.value('SELECT count(*) FROM entries')).toBe(1);
    });
  }
});
