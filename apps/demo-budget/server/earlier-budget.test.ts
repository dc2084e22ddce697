import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, Schema } from '@rockpool/client';
import { createDevice, inProcess, type Device } from '@rockpool/client/node';
import { createSyncServer, type SyncServer } from '@rockpool/sync-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountsWithBalances } from '../src/queries/accounts.ts';
import { categoriesByName } from '../src/queries/categories.ts';
import { rulesInOrder } from '../src/queries/rules.ts';
import { schema } from '../src/schema.ts';
import { earlierSchema } from './testing/earlier-schema.ts';

const secret = randomBytes(32);
let folder: string;
let server: SyncServer;
const clients = new Set<Client>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rockpool-demo-'));
});

afterEach(async () => {
  for (const client of clients) await client.close();
  clients.clear();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens the budget as one version of the app does. */
async function open(device: Device, version: Schema): Promise<Client> {
  const client = await device.createClient({
    name: 'budget',
    schema: version,
    sync: {
      url: 'ws://in-process',
      databaseId: 'household',
      token: () => server.issueToken({ principal: 'anna', databases: ['household'], ttlMs: 600_000 }),
      transport: inProcess(server),
    },
  });
  clients.add(client);
  return client;
}

async function close(client: Client): Promise<void> {
  clients.delete(client);
  await client.close();
}

/** Resolves once the query has a row. The deadline is that of the test. */
async function untilFound(client: Client, sql: string): Promise<void> {
  for await (const { rows } of client.live(sql)) if (rows.length > 0) return;
}

const fill = [
  `INSERT INTO accounts (id, name, kind, currency, openingMinor, createdAtMs) VALUES ('giro', 'Giro', 'checking', 'EUR', 10000, 1)`,
  `INSERT INTO categories (id, name, kind) VALUES ('food', 'Food', 'spending')`,
  `INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs) VALUES ('coffee', 'giro', '2026-03-01', 'Café Heron', 'with Bo', 'food', -350, 2)`,
  `INSERT INTO parts (id, entryId, categoryId, amountMinor) VALUES ('coffee/1', 'coffee', 'food', -100)`,
  `INSERT INTO rules (id, field, test, value, categoryId, createdAtMs) VALUES ('heron', 'payee', 'contains', 'heron', 'food', 3)`,
  `INSERT INTO schedules (id, accountId, payee, amountMinor, firstDate, unit, createdAtMs) VALUES ('rent', 'giro', 'Rent', -90000, '2026-01-01', 'month', 4)`,
  `INSERT INTO goals (id, categoryId, currency, kind, amountMinor) VALUES ('food/EUR', 'food', 'EUR', 'monthly', 40000)`,
  `INSERT INTO assignments (id, month, currency, categoryId, amountMinor, assignedAtMs) VALUES ('a', '2026-03', 'EUR', 'food', 40000, 5)`,
  `INSERT INTO notes (id, content) VALUES ('budget', '{"body": [{"insert": "Ask about the rent\\n"}]}')`,
];

it('the app opens a budget of an earlier version with all its rows, and syncs it with a device that is not updated', async () => {
  server = createSyncServer({ dataDir: folder, schema: earlierSchema, secret });
  const [updated, waiting] = [createDevice(), createDevice()];
  const before = await open(updated, earlierSchema);
  for (const sql of fill) await before.execute(sql).synced;
  await close(before);

  await server.close();
  server = createSyncServer({ dataDir: folder, schema, secret });
  const after = await open(updated, schema);
  expect(await after.query(accountsWithBalances)).toMatchObject([{ id: 'giro', balanceMinor: 9650, groupName: '' }]);
  expect(await after.query(categoriesByName)).toMatchObject([{ id: 'food', position: 0, groupName: '', note: '' }]);
  expect(await after.query(rulesInOrder)).toMatchObject([{ id: 'heron', needs: 'all', status: null, split: '[]' }]);
  expect(await after.query("SELECT rowid FROM entriesSearch WHERE entriesSearch MATCH 'cafe'")).toHaveLength(1);
  for (const [table, count] of [
    ['parts', 1],
    ['goals', 1],
    ['assignments', 1],
    ['notes', 1],
  ] as const)
    expect(await after.query(`SELECT count(*) AS count FROM ${table}`)).toEqual([{ count }]);

  const behind = await open(waiting, earlierSchema);
  await untilFound(behind, 'SELECT id FROM entries');
  await behind.execute(`UPDATE entries SET amountMinor = -400 WHERE id = 'coffee'`).synced;
  await after.execute(`UPDATE categories SET groupName = 'Daily' WHERE id = 'food'`).synced;
  await after.execute(`UPDATE entries SET notes = 'alone' WHERE id = 'coffee'`).synced;
  await untilFound(behind, "SELECT id FROM entries WHERE notes = 'alone'");
  expect(await behind.query('SELECT amountMinor, notes FROM entries')).toEqual([{ amountMinor: -400, notes: 'alone' }]);
  await close(behind);
  const caughtUp = await open(waiting, schema);
  await untilFound(caughtUp, "SELECT id FROM categories WHERE groupName = 'Daily'");
});
