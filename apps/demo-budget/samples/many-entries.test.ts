import { expect, it } from 'vitest';
import { manyAccounts, manyEntries } from './many-entries.ts';

it('the sample household produces the requested number of entries, in every account, up to the last day', () => {
  const entries = manyEntries('2025-06-30', 100_000);
  expect(entries).toHaveLength(100_000);
  expect(new Set(entries.map(({ accountId }) => accountId))).toEqual(new Set(manyAccounts.map(({ id }) => id)));
  // 3,650 days, including the last.
  const days = entries.map(({ date }) => date).sort();
  expect([days[0], days.at(-1)]).toEqual(['2015-07-04', '2025-06-30']);
  expect(manyEntries('2025-06-30', 10)).toEqual(entries.slice(0, 10));
});
