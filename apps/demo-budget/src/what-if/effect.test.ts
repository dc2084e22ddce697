import { expect, it } from 'vitest';
import { monthBudget } from '../envelopes/envelopes.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { monthEffect } from './effect.ts';

const category = { kind: 'spending', hidden: 0, keepsOverspent: 0, groupName: '', position: 0, note: '' } as const;
const food: CategoryRow = { ...category, id: 'food', name: 'Groceries' };
const home: CategoryRow = { ...category, id: 'home', name: 'Home' };
const pets: CategoryRow = { ...category, id: 'pets', name: 'Pets' };

it('the effect shows the envelopes that differ, those that only one side has, and the money left to assign', () => {
  const month = '2026-04';
  const assigned = [{ month, categoryId: 'home', assignedMinor: 600 }];
  const activity = [{ month, categoryId: 'home', changeMinor: -500 }];
  const today = monthBudget({ month, categories: [food, home], assigned, activity, openingMinor: 1_000n });
  const whatIf = monthBudget({
    month,
    categories: [home, pets],
    assigned: [...assigned, { month, categoryId: 'pets', assignedMinor: 150 }],
    activity: [...activity, { month: '2026-03', categoryId: 'pets', changeMinor: -50 }],
    openingMinor: 1_000n,
  });
  expect(monthEffect(today, whatIf)).toEqual({
    envelopes: [{ categoryId: 'pets', name: 'Pets', todayMinor: 0n, whatIfMinor: 150n }],
    unassigned: { todayMinor: 400n, whatIfMinor: 200n },
  });
  expect(monthEffect(whatIf, today).envelopes).toEqual([
    { categoryId: 'pets', name: 'Pets', todayMinor: 150n, whatIfMinor: 0n },
  ]);
  expect(monthEffect(today, today)).toEqual({ envelopes: [], unassigned: { todayMinor: 400n, whatIfMinor: 400n } });
});
