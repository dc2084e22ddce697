import { expect, it } from 'vitest';
import { openDatabaseFile } from '../store/database-file.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';

it('the sites of a log are not confused if a removed site and the next site have the same number', () => {
  const { sql, sites } = openDatabaseFile(':memory:', TEST_SCHEMA);
  const [first, second] = ['aa'.repeat(16), 'bb'.repeat(16)];
  const removed = sites.create(first, 'ann');
  expect(sites.numberOf(first)).toBe(removed.number);
  sites.remove(removed);
  const other = sites.create(second, 'ben');
  const again = sites.create(first, 'ann');
  expect([sites.numberOf(second), sites.numberOf(first)]).toEqual([other.number, again.number]);
  expect([sites.siteOf(other.number), sites.siteOf(again.number)]).toEqual([second, first]);
  sql.close();
});
