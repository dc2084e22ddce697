import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@rockpool/client';
import { createDevice, inProcess, type Device } from '@rockpool/client/node';
import { createSyncServer, type Role, type SyncServer } from '@rockpool/sync-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addAccount } from '../src/accounts/actions.ts';
import { addStarterCategories } from '../src/categories/starter-categories.ts';
import { addEntry, changeEntry, deleteEntries } from '../src/entries/actions.ts';
import { assign } from '../src/envelopes/actions.ts';
import { bringBack } from '../src/history/actions.ts';
import { currentState, partIdsOf, stateAt } from '../src/history/entry-state.ts';
import { dayOf, momentOf, pastErrorSentence } from '../src/past/moment.ts';
import { pastClient } from '../src/past/past-client.ts';
import { accountsWithBalances, clearedOfAccount, currenciesOfAccounts } from '../src/queries/accounts.ts';
import { categoriesByName } from '../src/queries/categories.ts';
import { activityByMonth, assignedByMonth } from '../src/queries/envelopes.ts';
import { goalsInCurrency } from '../src/queries/goals.ts';
import { ledgerTotals, ledgerWindow, partsOfEntry, wholeLedger } from '../src/queries/ledger.ts';
import { breakdownBy, cashFlowByMonth, changeOfAccountsByMonth, spanOfEntries } from '../src/queries/reports.ts';
import { scheduleDaysDone, schedulesByPayee } from '../src/queries/schedules.ts';
import { allSettings } from '../src/queries/settings.ts';
import { schema } from '../src/schema.ts';
import { addTransfer } from '../src/transfers/actions.ts';

const dayMs = 24 * 60 * 60_000;
const clients: Client[] = [];
let folder: string;
let server: SyncServer;
let nowMs: number;
let device: Device;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rockpool-demo-'));
  nowMs = Date.now();
  server = createSyncServer({
    dataDir: folder,
    schema,
    secret: randomBytes(32),
    historyRole: 'editor',
    now: () => nowMs,
    log: () => undefined,
  });
  device = createDevice();
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(role: Role = 'owner', on: Device = device): Promise<Client> {
  const client = await on.createClient({
    name: 'budget',
    schema,
    sync: {
      url: 'ws://in-process',
      databaseId: 'household',
      token: () => server.issueToken({ principal: role, databases: ['household'], ttlMs: 90 * dayMs, role }),
      transport: inProcess(server),
    },
  });
  clients.push(client);
  return client;
}

/** Resolves once the server has everything that was written before. */
async function settle(client: Client): Promise<void> {
  await client.execute(
    "INSERT INTO settings (id, value) VALUES ('name', 'Home') ON CONFLICT (id) DO UPDATE SET value = value || '.'",
  ).synced;
}

const food = { date: '2026-03-01', payee: 'Market', notes: '', categoryId: 'starter-groceries', amountMinor: -4_250 };

it('looking back restores deleted entries with their parts, both sides of a transfer, and older states of a split', async () => {
  const client = await open();
  await addStarterCategories(client);
  const [giro, cash] = [
    await addAccount(client, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 }),
    await addAccount(client, { name: 'Cash', kind: 'cash', currency: 'EUR', openingMinor: 0 }),
  ];
  const id = await addEntry(client, giro, food);
  const whole = await currentState(client, id);
  await settle(client);
  const part = { id: '', notes: '', categoryId: 'starter-home' };
  await changeEntry(client, id, { fields: food, parts: [] }, { ...food, categoryId: null }, [
    { ...part, amountMinor: -1_000 },
    { ...part, amountMinor: -3_250 },
  ]);
  await client.execute('DELETE FROM parts WHERE id = ?', [`${id}/1`]);
  const transferId = await addTransfer(client, giro, cash, {
    date: '2026-03-02',
    notes: 'cash',
    amountMinor: -500,
    otherMinor: 500,
    categoryId: null,
  });
  await settle(client);
  const before = await Promise.all([id, transferId].map((entry) => currentState(client, entry)));

  // Even a device that never had the rows can restore them.
  await deleteEntries(client, [id, transferId]);
  await settle(client);
  const other = await open('editor', createDevice());
  for await (const { rows } of other.live('SELECT id FROM deletedEntries')) if (rows.length === 3) break;
  expect(await partIdsOf(other, id)).toEqual([`${id}/1`, `${id}/2`]);
  await bringBack(other, { id, transferId: null });
  const [side] = await other.query<{ id: string; transferId: string }>(
    'SELECT id, transferId FROM deletedEntries WHERE amountMinor > 0',
  );
  await bringBack(other, side ?? never());
  expect(await Promise.all([id, transferId].map((entry) => currentState(other, entry)))).toEqual(before);
  expect(await other.query('SELECT count(*) AS count FROM entries')).toEqual([{ count: 3 }]);
  expect(await other.query('SELECT id FROM deletedEntries')).toEqual([]);

  const { versions } = await (await other.history('entries', id)).page();
  const [first] = versions.filter(({ kind, version }) => kind === 'insert' && version !== null).toReversed();
  expect(await stateAt(other, id, await partIdsOf(other, id), first?.version ?? never())).toEqual(whole);
});

it('the queries of all pages run on the budget of a past day, which stays unchanged', async () => {
  const client = await open();
  await addStarterCategories(client);
  const giro = await addAccount(client, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 10_000 });
  const id = await addEntry(client, giro, food);
  await assign(client, [{ month: '2026-03', currency: 'EUR', categoryId: 'starter-groceries', amountMinor: 5_000 }]);
  await settle(client);
  const firstDay = dayOf(nowMs);
  nowMs += 3 * dayMs;
  await changeEntry(client, id, { fields: food, parts: [] }, { ...food, amountMinor: -9_999 });
  await deleteEntries(client, [await addEntry(client, giro, { ...food, payee: 'Gone' })]);
  await settle(client);

  const past = await client.past(momentOf(firstDay as never));
  const then = pastClient(client, past);
  const ledger = ledgerWindow(giro, wholeLedger, 0, 50);
  expect(await then.query(ledger)).toMatchObject([{ payee: 'Market', amountMinor: -4_250, balanceMinor: 5_750 }]);
  expect(await client.query(ledger)).toMatchObject([{ payee: 'Market', amountMinor: -9_999, balanceMinor: 1 }]);
  const { sql: totals, params } = ledgerTotals(giro, wholeLedger);
  const days = ['EUR', '2026-01-01', '2026-12-31'];
  for (const [query, given = []] of [
    [accountsWithBalances],
    [clearedOfAccount, [giro, giro, giro]],
    [currenciesOfAccounts],
    [categoriesByName],
    [assignedByMonth, ['EUR', '2026-03']],
    [activityByMonth, ['EUR', '2026-03']],
    [goalsInCurrency, ['EUR']],
    [totals, params],
    [partsOfEntry, [id]],
    [spanOfEntries, ['EUR']],
    [cashFlowByMonth, days],
    [changeOfAccountsByMonth, days],
    [breakdownBy('group'), [...days, '2025-01-01', '2025-12-31']],
    [schedulesByPayee],
    [scheduleDaysDone],
    [allSettings],
  ] as const) {
    const live = then.live(query, given);
    expect(then.live(query, given)).toBe(live);
    for await (const { error, loading } of live) expect([error, loading]).toEqual([null, false]);
  }
  expect(() => then.execute('DELETE FROM entries')).toThrow(expect.objectContaining({ code: 'sql-read-only' }));
  await past.close();
});

it('looking back explains why a past day cannot be shown', async () => {
  const client = await open();
  await settle(client);
  const failureOf = async (asked: Client, view: Parameters<typeof momentOf>[0]): Promise<string> =>
    await asked.past(momentOf(view)).then(never, (error: unknown) => pastErrorSentence(error, view));
  expect(await failureOf(client, '2020-03-01')).toContain('did not exist');
  nowMs += 800 * dayMs;
  await client.execute("UPDATE settings SET value = 'Ours'").synced;
  nowMs += 800 * dayMs;
  await client.execute("UPDATE settings SET value = 'Home'").synced;
  expect(await failureOf(client, 'version-1')).toContain('no longer kept');
  const viewer = await open('viewer', createDevice());
  expect(await failureOf(viewer, '2020-03-01')).toContain('Ask an owner');
});

function never(): never {
  throw new Error('this does not happen');
}
