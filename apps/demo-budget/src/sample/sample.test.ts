import { expect, it } from 'vitest';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { readRules } from '../rules/rule.ts';
import { memoryWriter } from '../../testing/memory-writer.ts';
import { sampleRows } from './sample-rows.ts';

it.each(['2026-01-01', '2026-03-31', '2024-02-29', '2026-11-22'])(
  'the sample of %s ends that day, adds up, and is the same when it is filled again',
  async (today) => {
    const writer = memoryWriter();
    await addStarterCategories(writer);
    const rows = sampleRows({ today, currency: 'EUR', otherCurrency: 'GBP' });
    await writer.batch(rows);
    const changes = await writer.batch(rows);
    expect(changes.every((result) => result.changes === 0)).toBe(true);
    const [days] = writer.rows<{ first: string; last: string; entries: number }>(
      'SELECT min(date) AS first, max(date) AS last, count(*) AS entries FROM entries',
    );
    expect(days?.last).toBe(today);
    expect(days?.first.slice(0, 4)).toBe(String(Number(today.slice(0, 4)) - (today.slice(5, 7) === '12' ? 0 : 1)));
    expect(days?.entries).toBeGreaterThan(700);
    // Both sides of transfers agree, parts add up to their entries, and every reference resolves.
    expect(
      writer.rows(
        'SELECT transferId FROM entries WHERE transferId IS NOT NULL GROUP BY transferId HAVING count(*) <> 2 OR sum(amountMinor) <> 0',
      ),
    ).toEqual([]);
    expect(
      writer.rows(
        'SELECT entryId FROM parts JOIN entries ON entries.id = entryId GROUP BY entryId HAVING sum(parts.amountMinor) <> entries.amountMinor',
      ),
    ).toEqual([]);
    expect(writer.rows('PRAGMA foreign_key_check')).toEqual([]);
    const accounts = writer.rows<AccountRow>(accountsWithBalances);
    expect(accounts.map(({ name, currency }) => `${name} ${currency}`)).toEqual([
      'Household EUR',
      'Credit card EUR',
      'Savings EUR',
      'Purse EUR',
      'Pension EUR',
      'Travel money GBP',
    ]);
    expect(
      accounts.filter(({ kind, balanceMinor }) => kind !== 'credit' && balanceMinor < 0).map(({ name }) => name),
    ).toEqual([]);
    expect(readRules(writer.rows<RuleRow>(rulesInOrder))).toHaveLength(2);
  },
);
