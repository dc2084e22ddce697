import { longDeadlines } from './harness/long-deadlines.ts';
import { expect, test } from './harness/test.ts';
import { serverDatabase } from './harness/server-database.ts';
import { insertGroup, openRawSocket, type RawSocket } from './harness/wire.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, fillEntryForm, ledgerRow } from './steps/entries.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage, syncBadge } from './steps/sync.ts';

test('a wrong delimiter is reported together with the right one, and the preview stays open', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Giro', currency: 'EUR' });
  await chooseFile(page, {
    name: 'semicolons.csv',
    contents: 'Datum;Empfänger;Betrag\n01.06.2025;Bäcker;-1,00\n02.06.2025;Miete;-900,00\n',
  });
  await page.getByLabel('Separator').selectOption({ label: 'commas' });
  await expect(page.getByRole('alert')).toHaveText(
    'The columns of this file are not separated by commas. Try semicolons.',
  );
  await importPreviewed(page, 2);
});

test('rows with unreadable dates or amounts over 2^53 minor units block the import until they are skipped', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Giro', currency: 'EUR' });
  await chooseFile(page, {
    name: 'mixed.csv',
    contents:
      'Date,Payee,Amount\n2025-06-01,Good,-1.00\n2025-02-30,No such day,-2.00\nsoon,No date,-3.00\n2025-06-02,Too much,90071992547409.92\n2025-06-03,Largest,90071992547409.91\n',
  });
  const summary = page.getByRole('region', { name: 'Import', exact: true });
  await expect(summary).toContainText('3 rows cannot be read.');
  const preview = page.getByRole('table', { name: 'Preview' });
  await expect(preview.getByRole('row').filter({ hasText: 'No such day' })).toContainText(
    'This date does not exist in the chosen date order.',
  );
  await expect(preview.getByRole('row').filter({ hasText: 'No date' })).toContainText(
    'The date does not match the chosen date order.',
  );
  await expect(preview.getByRole('row').filter({ hasText: 'Too much' })).toContainText('This amount is too large');
  await expect(page.getByRole('button', { name: /^Import \d+ entr/ })).toBeDisabled();

  await summary.getByRole('button', { name: 'Skip these 3 rows' }).click();
  await importPreviewed(page, 2);
  await openAccount(page, 'Giro');
  await expect(ledgerRow(page, 'Largest')).toContainText('+€90,071,992,547,409.91');
  await expectBalance(page, '€90,071,992,547,408.91', '2 entries');
});

test('the form also rejects an amount over 2^53 minor units, and larger balances are exact', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Vault', currency: 'EUR', opening: '90071992547409.91' });
  await page.getByRole('button', { name: 'New entry' }).click();
  const form = page.getByRole('form', { name: 'New entry' });
  await fillEntryForm(form, { payee: 'Windfall', amount: '+90071992547409.92' });
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(form.getByRole('alert')).toHaveText(/This amount is too large/);
  await form.getByLabel(/^Amount in /).fill('90071992547409.90');
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(ledgerRow(page, 'Windfall')).toContainText('€180,143,985,094,819.81');
  await expectUpToDate(page);
});

test.describe('malformed frames that no client sends', () => {
  test('each get a typed error, and the server keeps serving other sessions', async ({ newPerson, server }) => {
    const { page } = await newPerson();
    await addAccount(page, { name: 'Cash', currency: 'EUR' });
    await expectUpToDate(page);
    const link = await shareLink(page);
    await openAccount(page, 'Cash');
    const budget = await budgetOf(link);

    const noise = await openRawSocket(server.port);
    noise.sendFrame(Uint8Array.from({ length: 1_000 }, (_, index) => (index * 97 + 13) % 256));
    await expectFailure(noise, 'frame-invalid');

    const late = await greetedSocket(server.port, budget);
    late.sendFrame(Uint8Array.of(0, 99, 1, 2, 3));
    await expectFailure(late, 'frame-invalid');

    const rude = await openRawSocket(server.port);
    rude.send({ type: 'ping' });
    await expectFailure(rude, 'frame-unexpected');

    const cells = { payee: 'From nowhere' };
    for (const [group, code] of [
      [insertGroup('no_such_table', 'x', cells), 'schema-unknown-table'],
      [insertGroup('rockpool_conflict', 'x', cells), 'schema-unknown-table'],
      [insertGroup('entries', 'x', { no_such_column: 'x' }), 'schema-unknown-column'],
      [insertGroup('entries', 'x', cells), 'constraint-not-null'],
    ] as const) {
      const socket = await greetedSocket(server.port, budget);
      socket.push(group);
      const answer = await socket.next();
      expect(answer).toMatchObject({ type: 'delivery', outcomes: [{ kind: 'rejected', sequence: 1, code }] });
      socket.close();
      await socket.closed;
    }

    await addEntry(page, { payee: 'Still here', amount: '1' });
    await expect
      .poll(() => serverDatabase(server.dataFolder, link).rows('SELECT payee FROM entries'))
      .toEqual([{ payee: 'Still here' }]);
    await expectUpToDate(page);
  });

  test('do not harm the page when a server sends them', async ({ newPerson, server }) => {
    // The page retries by itself after 30 to 60 seconds, too soon for a busy machine.
    const anna = await newPerson({ scriptPrefix: longDeadlines, keepsAppFiles: true });
    const { page } = anna;
    await addAccount(page, { name: 'Cash', currency: 'EUR' });
    await expectUpToDate(page);
    const link = await shareLink(page);
    const stored = serverDatabase(server.dataFolder, link);
    await openAccount(page, 'Cash');
    await addEntry(page, { payee: 'Before', amount: '1' });
    await expect.poll(() => stored.value('SELECT count(*) FROM entries')).toBe(1);
    await expectUpToDate(page);

    anna.gateway.injectFrame(Uint8Array.from({ length: 100 }, (_, index) => (index * 89 + 7) % 256));
    await expect(syncBadge(page)).toHaveText('Sync stopped');
    await addEntry(page, { payee: 'After', amount: '2' });
    await expect(ledgerRow(page, 'After')).toContainText('-€3.00');
    await openSyncPage(page);
    await expect(page.getByRole('main')).toContainText('frame-invalid');

    // The browser's online event makes the page retry at once.
    await anna.goOffline();
    await anna.goOnline();
    await expect(syncBadge(page)).toHaveText('Up to date');
    expect(stored.rows('SELECT payee FROM entries ORDER BY payee')).toEqual([{ payee: 'After' }, { payee: 'Before' }]);
  });
});

interface OpenedBudget {
  readonly databaseId: string;
  readonly token: string;
}

/** Does by hand what the app does with a share link. */
async function budgetOf(link: string): Promise<OpenedBudget> {
  const params = new URLSearchParams(new URL(link).hash.slice(1));
  const databaseId = params.get('budget') ?? '';
  const response = await fetch(new URL('/api/token', link), {
    method: 'POST',
    body: JSON.stringify({ databaseId, shareKey: params.get('key'), principal: 'device-stranger' }),
  });
  const { token } = (await response.json()) as { token: string };
  return { databaseId, token };
}

/** Resolves to a socket that has completed the handshake and received the first delivery. */
async function greetedSocket(serverPort: number, { databaseId, token }: OpenedBudget): Promise<RawSocket> {
  const socket = await openRawSocket(serverPort);
  socket.hello(token, databaseId);
  expect(await socket.next()).toMatchObject({ type: 'welcome' });
  expect(await socket.next()).toMatchObject({ type: 'delivery' });
  return socket;
}

async function expectFailure(socket: RawSocket, code: string): Promise<void> {
  expect(await socket.next()).toMatchObject({ type: 'failure', code });
  expect(await socket.closed).toBeGreaterThanOrEqual(1000);
}
