import { expect, it } from 'vitest';
import { openInMemory } from '../../../testing/worker/test-database.ts';

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
