// `npm run bench -- demo`: runs the queries of the demo's pages over 100,000 entries in memory, in our build of SQLite
// with scans (docs/decisions/0076) and without. Measures processor time of this thread in Node, after a warm-up.
// `--entries N`, `--rounds N`, `--only PAGE`.
import { parseArgs } from 'node:util';
import type { SqlParam } from '../packages/client/src/index.ts';
import { createSearchIndexSql, rebuildSearchIndexSql } from '../packages/client/src/worker/search/search-index-sql.ts';
import { Connection } from '../packages/client/src/worker/sqlite/connection.ts';
import { encodeRows } from '../packages/client/src/worker/sqlite/encode-rows.ts';
import { loadSqlite } from '../packages/client/src/worker/sqlite/load-sqlite.node.ts';
import { tableToDdl } from '../packages/shared/src/schema/ddl.ts';
import { manyAccounts, manyEntries } from '../apps/demo-budget/samples/many-entries.ts';
import { addStarterCategories } from '../apps/demo-budget/src/categories/starter-categories.ts';
import { accountsWithBalances } from '../apps/demo-budget/src/queries/accounts.ts';
import { activityByMonth } from '../apps/demo-budget/src/queries/envelopes.ts';
import { ledgerTotals, ledgerWindow, wholeLedger } from '../apps/demo-budget/src/queries/ledger.ts';
import {
  breakdownBy,
  cashFlowByMonth,
  changeOfAccountsByMonth,
  reportedEntries,
  spendingByMonth,
} from '../apps/demo-budget/src/queries/reports.ts';
import { schema } from '../apps/demo-budget/src/schema.ts';
import type { Writer } from '../apps/demo-budget/src/writer.ts';

const { values: flags } = parseArgs({
  options: { entries: { type: 'string' }, rounds: { type: 'string' }, only: { type: 'string' } },
});
const entryCount = Number(flags.entries ?? 100_000);
const rounds = Number(flags.rounds ?? 15);
const NEVER = 0;
const AS_IT_PAYS = 1;
const LAST_DAY = '2026-06-30';
const MONTH = '2026-06';
const YEAR = ['EUR', '2025-07-01', LAST_DAY] as const;
const ACCOUNT = 'many-household';
const WINDOW_ROWS = 60;

const found = { ...wholeLedger, text: 'heron' };
const ofPayee = { ...wholeLedger, payee: 'The Drowsy Heron' };
const QUERIES: readonly (readonly [page: string, sql: string, params: readonly SqlParam[]])[] = [
  ['accounts', accountsWithBalances, []],
  ledger('ledger', ledgerWindow(ACCOUNT, wholeLedger, 0, WINDOW_ROWS)),
  ledger('search', ledgerWindow(ACCOUNT, found, 0, WINDOW_ROWS)),
  ledger('search: totals', ledgerTotals(ACCOUNT, found)),
  ledger('one payee: totals', ledgerTotals(ACCOUNT, ofPayee)),
  ledger('amounts above 100: totals', ledgerTotals(null, { ...wholeLedger, atLeastMinor: 10_000 })),
  ['monthly budget', activityByMonth, ['EUR', MONTH]],
  ['report: spending', spendingByMonth, YEAR],
  ['report: cash flow', cashFlowByMonth, YEAR],
  ['report: net worth', changeOfAccountsByMonth, YEAR],
  ['report: breakdown by payee', breakdownBy('payee'), ['EUR', '2025-07-01', LAST_DAY, '2024-07-01', '2025-06-30']],
  ['report: entries of a year', reportedEntries, [...YEAR, '', '', '', '', 100]],
];

function ledger(page: string, { sql, params }: { readonly sql: string; readonly params: readonly SqlParam[] }) {
  return [page, sql, params] as const;
}

const runtime = await loadSqlite();
const connection = new Connection(runtime, { path: ':memory:' });
await fill();
console.log('| query | without scans, ms | with scans, ms | ratio |\n|---|---|---|---|');
for (const [page, sql, params] of QUERIES) {
  if (flags.only !== undefined && page !== flags.only) continue;
  const times: readonly [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    for (const mode of round % 2 === 0 ? ([NEVER, AS_IT_PAYS] as const) : ([AS_IT_PAYS, NEVER] as const)) {
      const tookMs = cpuMs(mode, sql, params);
      if (round > 0) times[mode].push(tookMs);
    }
  }
  const [without, with_] = times.map(median) as [number, number];
  console.log(`| ${page} | ${without.toFixed(2)} | ${with_.toFixed(2)} | ${(with_ / without).toFixed(2)} |`);
}
connection.close();

/** Each mode has its own statement text, because a prepared statement keeps its translation. */
function cpuMs(mode: 0 | 1, sql: string, params: readonly SqlParam[]): number {
  runtime.module._rockpool_scan_mode(mode, 0);
  const beforeMs = threadCpuMs();
  const statement = connection.prepare(mode === NEVER ? sql : `${sql} `);
  statement.bindParams(params);
  encodeRows(statement);
  statement.release();
  return threadCpuMs() - beforeMs;
}

/** Linux updates the time of a thread only every 4 ms, but reading the time of the process updates it at once. */
function threadCpuMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The tables and indexes of the demo, with its starter categories and the entries of its measurements. */
async function fill(): Promise<void> {
  for (const table of schema.tables) {
    for (const sql of tableToDdl(table)) connection.exec(sql);
    for (const index of table.searchIndexes ?? []) connection.exec(createSearchIndexSql(table, index));
  }
  const writer: Pick<Writer, 'batch'> = {
    batch: async (statements) => {
      for (const { sql, params } of statements) connection.run(sql, ...params);
      return await Promise.resolve([]);
    },
  };
  await addStarterCategories(writer as Writer);
  connection.exec('BEGIN');
  for (const { id, name, kind } of manyAccounts)
    connection.run(
      "INSERT INTO accounts (id, name, kind, currency, openingMinor, createdAtMs) VALUES (?, ?, ?, 'EUR', 0, 0)",
      id,
      name,
      kind,
    );
  for (const [index, entry] of manyEntries(LAST_DAY, entryCount).entries())
    connection.run(
      'INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      `many-${index}`,
      entry.accountId,
      entry.date,
      entry.payee,
      entry.notes,
      entry.categoryId,
      entry.amountMinor,
      index,
    );
  connection.exec('COMMIT');
  for (const table of schema.tables)
    for (const index of table.searchIndexes ?? []) connection.exec(rebuildSearchIndexSql(index));
}
