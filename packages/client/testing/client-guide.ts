import {
  backupDatabase,
  createClient,
  deleteDatabase,
  listDatabases,
  newId,
  restoreDatabase,
  RockpoolError,
  searchText,
  sql,
} from '@rockpool/client';
import { defineSchema, searchIndex } from '@rockpool/client/schema';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const account = sqliteTable('account', {
  id: text().primaryKey(),
  name: text().notNull(),
  balance: integer().notNull().default(0),
});
const entry = sqliteTable(
  'entry',
  { id: text().primaryKey(), accountId: text('account_id').notNull(), amount: integer().notNull() },
  (table) => [index('entry_account').on(table.accountId)],
);
const accountSearch = searchIndex(account, { columns: [account.name] });
const schema = defineSchema({ account, accountSearch, entry });

const client = await createClient({ name: 'client-guide', schema });

const inserted = await client.execute<{ id: string }>(
  sql`INSERT INTO account (id, name, balance) VALUES ('a', ${'Ada'}, ${100}), ('b', ${'Ben'}, ${0}) RETURNING id`,
);
const accounts = await client.query<{ name: string }>('SELECT name FROM account WHERE balance > ?', [10]);

async function transfer(from: string, to: string, amount: number): Promise<void> {
  await client.transaction(
    async (tx) => {
      const [source] = await tx.query<{ balance: number }>(sql`SELECT balance FROM account WHERE id = ${from}`);
      if (source === undefined || source.balance < amount) throw new Error('not enough');
      await tx.execute(sql`UPDATE account SET balance = balance - ${amount} WHERE id = ${from}`);
      await tx.execute(sql`UPDATE account SET balance = balance + ${amount} WHERE id = ${to}`);
      await tx.execute(sql`INSERT INTO entry VALUES (${newId()}, ${to}, ${amount})`);
    },
    { atomic: true },
  );
}
await transfer('a', 'b', 30);
const refused = await transfer('b', 'a', 1_000).catch((error: Error) => error.message);

const balances: number[][] = [];
const unsubscribe = client
  .live<{ balance: number }>('SELECT balance FROM account ORDER BY id')
  .subscribe(({ rows, error }) => {
    if (error === null) balances.push(rows.map(({ balance }) => balance));
  });

const typed = 'be';
const found = await client.query<{ name: string; place: string }>(sql`
  SELECT account.name, snippet(account_search, 0, '[', ']', '…', 8) AS place
  FROM account_search JOIN account ON account.rowid = account_search.rowid
  WHERE account_search MATCH ${searchText(typed)} ORDER BY rank`);

const [oldest] = await client.outbox.list({ limit: 1 });
if (oldest !== undefined) await client.outbox.withdraw(oldest.id);

const lost = await client.query<{ id: string; lost_by: string }>(sql`
  SELECT id, column_name, lost_value, won_value, lost_by, won_by, lost_at_ms FROM rockpool_conflict
  WHERE table_name = 'account' AND row_key = ${JSON.stringify(['a'])} ORDER BY id DESC`);
for (const { id } of lost) await client.conflicts.restore(id);

const { columns } = await client.columns('SELECT amount FROM entry');
let streamed = 0;
for await (const rows of client.stream('SELECT * FROM entry')) streamed += rows.length;

const wasUndone = await client.undo();
const wasRedone = await client.redo();
await client.execute(sql`UPDATE account SET name = ${'Adam'} WHERE id = 'a'`);

const draft = await client.branch('what if');
await draft.execute(sql`UPDATE account SET name = ${'Benedict'} WHERE id = 'b'`);
const { rows: changed, conflicts } = await draft.preview();
await draft.merge({ conflicts: 'branch' });

unsubscribe();
await client.close();
const file = await backupDatabase('client-guide');
await restoreDatabase('client-guide-copy', file);
const names = (await listDatabases()).map(({ name }) => name);
await deleteDatabase('client-guide-copy');

const again = await createClient({ name: 'client-guide', schema });
const code = await again.execute(sql`INSERT INTO account (id, name) VALUES ('a', ${'twice'})`).then(
  () => null,
  (error: unknown) => (error instanceof RockpoolError ? `${error.code}: ${error.recovery}` : 'other'),
);

// The guide ends here; this is for its test.
export const seen: Record<string, unknown> & { balances: number[][] } = {
  found,
  inserted,
  accounts,
  refused,
  lost,
  columns,
  streamed,
  wasUndone,
  wasRedone,
  changed,
  conflicts,
  names,
  code,
  balances,
};
export async function end(): Promise<void> {
  await again.close();
  await deleteDatabase('client-guide');
}
