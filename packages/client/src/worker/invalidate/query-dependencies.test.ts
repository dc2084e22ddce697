import { memoryMedium } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import { openInMemory, openStored } from '../../../testing/worker/test-database.ts';

it('the dependencies of a query are computed again after a schema change', () => {
  const database = openInMemory();
  const lookups = () =>
    database.dependencies({ sql: 'SELECT id FROM account WHERE amount = ?', params: [1] })[0]?.lookups;
  expect(lookups()).toBeNull();
  database.connection.exec('CREATE INDEX account_amount ON account (amount)');
  expect(lookups()).toEqual([{ column: 'amount', key: 'number:1' }]);
  // Replaces the index with one on a different column.
  database.connection.exec('DROP INDEX account_amount; CREATE INDEX account_extra ON account (extra)');
  expect(lookups()).toBeNull();
  database.close();
});

const NAMES_OF = {
  account: 'CREATE VIEW names AS SELECT id FROM account',
  entry: 'CREATE VIEW names AS SELECT id FROM entry',
};
const READ_NAMES = { sql: 'SELECT * FROM names', params: [] };

it('the dependencies of a query follow a view that another connection has redefined', async () => {
  const medium = memoryMedium();
  const writer = await openStored(medium);
  const write = (...sqls: string[]): unknown =>
    writer.database.write({ id: sqls.join(), statements: sqls.map((sql) => ({ sql, params: [] })) }).touchedTables;
  write(NAMES_OF.account);
  const reader = await openStored(medium, { role: 'reader' });
  const tables = (): string[] => reader.database.dependencies(READ_NAMES).map(({ table }) => table);
  expect(tables()).toContain('account');
  write('DROP VIEW names', NAMES_OF.entry);
  expect(tables()).toContain('entry');
  expect(tables()).not.toContain('account');
  await reader.close();
  await writer.close();
});
