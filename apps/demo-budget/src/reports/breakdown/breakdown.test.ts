import { expect, it } from 'vitest';
import { addAccount } from '../../accounts/actions.ts';
import { addCategory } from '../../categories/actions.ts';
import { addEntry } from '../../entries/actions.ts';
import { breakdownBy, type BreakdownBy, type BreakdownRow } from '../../queries/reports.ts';
import { memoryWriter } from '../../../testing/memory-writer.ts';

it('spending is broken down by payee, category, group or account, and compared with the year before', async () => {
  const writer = memoryWriter();
  const food = await addCategory(writer, 'Food', 'spending', 'Living');
  const pay = await addCategory(writer, 'Pay', 'income');
  const purse = await addAccount(writer, { name: 'Purse', kind: 'cash', currency: 'EUR', openingMinor: 0 });
  const card = await addAccount(writer, { name: 'Card', kind: 'credit', currency: 'EUR', openingMinor: 0 });
  const enter = (date: string, accountId: string, payee: string, categoryId: string | null, amountMinor: number) =>
    addEntry(writer, accountId, { date, payee, notes: '', categoryId, amountMinor });
  await enter('2025-03-31', purse, 'Market', food, -500);
  await enter('2025-03-01', card, 'Market', food, -700);
  await enter('2025-03-02', card, 'Kiosk', null, -100);
  await enter('2025-03-02', card, 'Job', pay, 9_000);
  await enter('2024-03-15', card, 'Market', food, -1_000);
  const by = (kind: BreakdownBy): [string, number, number][] =>
    writer
      .rows<BreakdownRow>(breakdownBy(kind), ['EUR', '2025-03-01', '2025-03-31', '2024-03-01', '2024-03-31'])
      .map(({ name, spentMinor, beforeMinor }) => [name, Number(spentMinor), Number(beforeMinor)]);
  expect(by('payee')).toEqual([
    ['Market', 1_200, 1_000],
    ['Kiosk', 100, 0],
  ]);
  expect(by('category')).toEqual([
    ['Food', 1_200, 1_000],
    ['', 100, 0],
  ]);
  expect(by('group')).toEqual([
    ['Living', 1_200, 1_000],
    ['', 100, 0],
  ]);
  expect(by('account')).toEqual([
    ['Card', 800, 1_000],
    ['Purse', 500, 0],
  ]);
});

it('categories and accounts with equal names are broken down apart', async () => {
  const writer = memoryWriter();
  for (const [groupName, amountMinor] of [
    ['Car', -300],
    ['Home', -100],
  ] as const) {
    const accountId = await addAccount(writer, { name: 'Card', kind: 'credit', currency: 'EUR', openingMinor: 0 });
    await writer.execute('UPDATE accounts SET groupName = ? WHERE id = ?', [groupName, accountId]);
    const categoryId = await addCategory(writer, 'Repairs', 'spending', groupName);
    await addEntry(writer, accountId, { date: '2025-03-01', payee: 'Shop', notes: '', categoryId, amountMinor });
  }
  const of = (kind: BreakdownBy): readonly BreakdownRow[] =>
    writer.rows(breakdownBy(kind), ['EUR', '2025-03-01', '2025-03-31', '2024-03-01', '2024-03-31']);
  for (const [kind, name] of [
    ['category', 'Repairs'],
    ['account', 'Card'],
  ] as const) {
    const rows = of(kind);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(2);
    expect(rows).toMatchObject([
      { name, groupName: 'Car', spentMinor: 300 },
      { name, groupName: 'Home', spentMinor: 100 },
    ]);
  }
  expect(of('payee')).toMatchObject([{ name: 'Shop', groupName: '', spentMinor: 400 }]);
});
