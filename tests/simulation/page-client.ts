import { RockpoolError } from '#shared/index.ts';
import type { Client } from '#client/client.ts';
import type { Transaction } from '#client/interface/writes.ts';
import { decodeRows } from '#client/rpc/rows-transfer.ts';
import type { SqlRow } from '#client/rpc/sql-value.ts';
import { OwnTransactions } from '#client/tab/own-transactions.ts';
import { toStatement } from '#client/tab/sql.ts';
import { runTransaction, type OwnOptions, type TransactionSource } from '#client/tab/transaction.ts';
import { ORACLE_TABLES, type TableTexts } from './oracle/tables.ts';
import { isHonest } from './sending.ts';
import type { Tab } from './tab.ts';

export type PageClient = Pick<Client, 'query' | 'transaction'>;

/** The errors with which the page's own transactions may end, in addition to those of a write. */
const HONEST_ENDS: ReadonlySet<string> = new Set(['transaction-timeout', 'transaction-ended', 'network-unreachable']);

export function isHonestEnd(tab: Tab, thrown: unknown): boolean {
  return thrown instanceof RockpoolError && (isHonest(tab, thrown) || HONEST_ENDS.has(thrown.code));
}

/**
 * The page's reads and transactions of several calls, run by the code that ships. `onWritten` receives the rows before
 * and after the statements of each transaction.
 */
export function pageClient(
  tab: Tab,
  mark: string,
  onWritten: (before: TableTexts, after: TableTexts) => void,
): PageClient {
  const source: TransactionSource = {
    transact: (id, ask) => tab.membership.transact(id, ask),
    commit: (id) => tab.membership.commit(id),
  };
  const query = async (...given: Parameters<Client['query']>): Promise<SqlRow[]> => {
    const [result] = await tab.membership.reads.queryAll([toStatement(...given)]);
    if (result === undefined || 'error' in result)
      throw result === undefined ? new RockpoolError('client-closed') : RockpoolError.fromData(result.error);
    return decodeRows(result.rows);
  };
  let transactions = 0;
  const transaction = async <T>(body: (tx: Transaction) => Promise<T> | T, options: OwnOptions = {}): Promise<T> => {
    const name = `${mark} ${++transactions}`;
    const checked = async (tx: Transaction): Promise<T> => {
      const before = await tablesIn(tx);
      const result = await body(tx);
      onWritten(before, await tablesIn(tx));
      return result;
    };
    tab.device.openTransactions.set(name, tab);
    try {
      return await runTransaction(source, options.requestId ?? name, checked, options, new OwnTransactions());
    } finally {
      tab.device.openTransactions.delete(name);
    }
  };
  return { query, transaction } as PageClient;
}

const ALL_TABLES_SQL = [...ORACLE_TABLES.values()]
  .map(({ name, sql }) => `SELECT '${name}' AS name, (${sql}) AS rows`)
  .join(' UNION ALL ');

async function tablesIn(tx: Transaction): Promise<TableTexts> {
  const found = await tx.query<{ name: string; rows: string | null }>(ALL_TABLES_SQL);
  return new Map(found.map(({ name, rows }) => [name, rows ?? '']));
}
