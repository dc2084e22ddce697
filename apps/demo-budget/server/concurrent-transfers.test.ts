import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@rockpool/client';
import { createDevice, inProcess } from '@rockpool/client/node';
import { createSyncServer, type SyncServer } from '@rockpool/sync-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addAccount } from '../src/accounts/actions.ts';
import { addEntry, changeEntry, deleteEntries } from '../src/entries/actions.ts';
import { newDraft, submitDraft } from '../src/entries/entry-draft.ts';
import { saveChanged } from '../src/entries/save.ts';
import { accountsWithBalances, type AccountRow } from '../src/queries/accounts.ts';
import { ledgerWindow, wholeLedger, type LedgerRow } from '../src/queries/ledger.ts';
import { schema } from '../src/schema.ts';
import { addTransfer, changeTransfer, makeTransfer, type TransferFields } from '../src/transfers/actions.ts';
import { transferProblem } from '../src/transfers/transfer-problem.ts';

let folder: string;
let server: SyncServer;
let anna: Client;
let ben: Client;
let checking: string;
let cash: string;
let dollars: string;

const paid = { date: '2026-03-01', payee: 'ATM', notes: '', categoryId: null, amountMinor: -5_000 };
const withdrawal: TransferFields = { ...paid, otherMinor: 5_000 };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rockpool-demo-'));
  server = createSyncServer({ dataDir: folder, schema, secret: randomBytes(32), log: () => undefined });
  [anna, ben] = [await open('anna'), await open('ben')];
  checking = await addAccount(anna, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  cash = await addAccount(anna, { name: 'Cash', kind: 'cash', currency: 'EUR', openingMinor: 0 });
  dollars = await addAccount(anna, { name: 'Dollars', kind: 'cash', currency: 'USD', openingMinor: 0 });
});

afterEach(async () => {
  await anna.close();
  await ben.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(principal: string): Promise<Client> {
  return await createDevice().createClient({
    name: 'budget',
    schema,
    sync: {
      url: 'ws://in-process',
      databaseId: 'household',
      token: () => server.issueToken({ principal, databases: ['household'], ttlMs: 600_000 }),
      transport: inProcess(server),
    },
  });
}

/** Resolves once each device has everything that the other one wrote. */
async function settle(): Promise<void> {
  for (const [from, to] of [
    [anna, ben],
    [ben, anna],
  ] as const) {
    const id = crypto.randomUUID();
    await from.execute('INSERT INTO settings (id, value) VALUES (?, ?)', [id, '']).synced;
    for await (const { rows } of to.live('SELECT id FROM settings WHERE id = ?', [id])) if (rows.length > 0) break;
  }
}

/** Both act before they receive what the other one did. */
async function atOnce(ofAnna: () => Promise<unknown>, ofBen: () => Promise<unknown>): Promise<void> {
  await settle();
  for (const { sync } of [anna, ben]) await sync.pause();
  await ofAnna();
  await ofBen();
  for (const { sync } of [anna, ben]) await sync.resume();
  await settle();
}

async function ledger(client: Client = anna): Promise<LedgerRow[]> {
  return await client.query<LedgerRow>(ledgerWindow(null, wholeLedger, 0, 10));
}

async function problems(): Promise<unknown[]> {
  return (await ledger()).map(transferProblem);
}

/** Opens the form of the first entry and saves it as it is. */
async function saveForm(): Promise<void> {
  const accounts = await anna.query<AccountRow>(accountsWithBalances);
  const [entry] = await ledger();
  const account = accounts.find(({ id }) => id === entry?.accountId);
  if (entry === undefined || account === undefined) throw new Error('no entry');
  const context = {
    account,
    entry,
    otherAccounts: accounts.filter(({ id }) => id !== account.id),
    mark: 'point',
  } as const;
  const result = submitDraft(newDraft(context, [], entry.date), context);
  if ('problem' in result) throw new Error(result.problem);
  await saveChanged(anna, account, { entry, parts: [] }, result);
}

it('two devices that turn the same entry into a transfer add only one other side', async () => {
  const id = await addEntry(anna, checking, paid);
  const make = (client: Client): Promise<unknown> => makeTransfer(client, { ...paid, id }, cash, withdrawal, 'none');
  await atOnce(
    () => make(anna),
    () => make(ben),
  );
  expect(await problems()).toEqual([null, null]);
  const balances = (await anna.query<AccountRow>(accountsWithBalances)).map(({ balanceMinor }) => balanceMinor);
  expect(balances).toEqual([-5_000, 5_000, 0]);
  expect(await ledger(ben)).toEqual(await ledger());
});

it('a transfer of an entry that another device deletes shows that a side is missing, and is saved as an entry', async () => {
  const id = await addEntry(anna, checking, paid);
  await atOnce(
    () => deleteEntries(anna, [id]),
    () => makeTransfer(ben, { ...paid, id }, cash, withdrawal, 'none'),
  );
  expect(await problems()).toEqual(['no-other-side']);
  await saveForm();
  expect(await ledger()).toMatchObject([{ accountId: cash, transferId: null }]);
});

it('a transfer of an entry that was imported again does not change the rest of its former transfer', async () => {
  const id = await addEntry(anna, checking, paid);
  await atOnce(
    () => deleteEntries(anna, [id]),
    () => makeTransfer(ben, { ...paid, id }, cash, withdrawal, 'none'),
  );
  const { date, payee, notes, amountMinor } = paid;
  await anna.execute(
    'INSERT INTO entries (id, accountId, date, payee, notes, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?, 0)',
    [id, checking, date, payee, notes, amountMinor],
  );
  const make = (client: Client): Promise<unknown> =>
    makeTransfer(client, { ...paid, id }, dollars, { ...withdrawal, otherMinor: 5_500 }, 'none');
  await atOnce(
    () => make(anna),
    () => make(ben),
  );
  const rows = (await ledger()).toSorted((a, b) => a.id.localeCompare(b.id));
  expect(rows).toMatchObject([
    { id, otherAccountName: 'Dollars', otherMinor: 5_500 },
    { id: `${id}/other`, accountId: cash, otherAccountName: null },
    { id: `${id}/other/2`, accountId: dollars, otherAccountName: 'Checking' },
  ]);
});

it('a transfer of an entry whose amount another device changes shows the difference, and saving removes it', async () => {
  const id = await addEntry(anna, checking, paid);
  await atOnce(
    () => changeEntry(anna, id, { fields: paid, parts: [] }, { ...paid, amountMinor: -6_000 }),
    () => makeTransfer(ben, { ...paid, id }, cash, withdrawal, 'none'),
  );
  expect(await problems()).toEqual(['sides-differ', 'sides-differ']);
  await saveForm();
  expect(await problems()).toEqual([null, null]);
});

it('a deleted transfer stays deleted on both sides if another device changes its amount', async () => {
  const id = await addTransfer(anna, checking, cash, withdrawal);
  const [side] = await ledger();
  const transferId = side?.transferId ?? '';
  await atOnce(
    () => deleteEntries(anna, [id]),
    () =>
      changeTransfer(ben, { id, transferId }, withdrawal, { ...withdrawal, amountMinor: -6_000, otherMinor: 6_000 }),
  );
  expect(await ledger()).toEqual([]);
});

it('a transfer between currencies reports a problem if both sides go in the same direction', async () => {
  const before = { ...withdrawal, otherMinor: 5_500 };
  const id = await addTransfer(anna, checking, dollars, before);
  const transferId = (await ledger())[0]?.transferId ?? '';
  await atOnce(
    () => changeTransfer(anna, { id, transferId }, before, { ...before, amountMinor: 5_000, otherMinor: -5_500 }),
    () => changeTransfer(ben, { id, transferId }, before, { ...before, amountMinor: -6_000 }),
  );
  const isOneWay = (await ledger()).reduce((product, { amountMinor }) => product * amountMinor, 1) > 0;
  expect(await problems()).toEqual(isOneWay ? ['sides-differ', 'sides-differ'] : [null, null]);
  await saveForm();
  expect(await problems()).toEqual([null, null]);
});
