import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addEntry, changeEntry } from '../entries/actions.ts';
import { assign } from '../envelopes/actions.ts';
import { setGoal } from '../goals/actions.ts';
import { addRule } from '../rules/actions.ts';
import { addSchedule } from '../schedules/actions.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import {
  addCategory,
  deleteCategory,
  NameTaken,
  placeCategory,
  renameCategory,
  renameGroup,
  requireFreeName,
} from './actions.ts';
import { addStarterCategories } from './starter-categories.ts';

let writer: MemoryWriter;

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
});

const spending = (): CategoryRow[] =>
  writer.rows<CategoryRow>(categoriesByName).filter(({ kind }) => kind === 'spending');
const names = (): string[] =>
  spending().map(({ groupName, name }) => (groupName === '' ? name : `${groupName}: ${name}`));

describe('categories', () => {
  it.each([
    ['Groceries', 'groceries'],
    ['Straßenbahn', 'STRASSENBAHN'],
    ['Café', 'Cafe\u0301'],
    ['Eating out', ' Eating  out '],
  ])('have different names: beside “%s”, “%s” is refused', async (name, typed) => {
    const id = await addCategory(writer, name, 'income');
    await deleteCategory(writer, 'starter-groceries', null);
    await deleteCategory(writer, 'starter-eating-out', null);
    await expect(requireFreeName(writer, typed)).rejects.toThrow(NameTaken);
    await expect(renameCategory(writer, 'starter-home', typed)).rejects.toThrow(NameTaken);
    await renameCategory(writer, id, typed.trim());
    await deleteCategory(writer, id, null);
    await requireFreeName(writer, typed);
  });

  it('are placed in groups and in any order', async () => {
    await placeCategory(writer, spending(), 'starter-leisure', { groupName: '', beforeId: 'starter-bills' });
    expect(names().slice(0, 3)).toEqual(['Leisure', 'Bills and insurance', 'Children']);
    await placeCategory(writer, spending(), 'starter-home', { groupName: 'Fixed', beforeId: null });
    await placeCategory(writer, spending(), 'starter-bills', { groupName: 'Fixed', beforeId: 'starter-home' });
    expect(names().filter((name) => name.startsWith('Fixed'))).toEqual(['Fixed: Bills and insurance', 'Fixed: Home']);
    await renameGroup(writer, 'Fixed', 'Every month');
    expect(names()).toContain('Every month: Home');
    // There is always space for another move between the same two.
    for (let round = 0; round < 80; round += 1) {
      const [first, second, third] = spending();
      await placeCategory(writer, spending(), third?.id ?? '', { groupName: '', beforeId: second?.id ?? '' });
      expect(
        spending()
          .slice(0, 3)
          .map(({ id }) => id),
      ).toEqual([first?.id, third?.id, second?.id]);
    }
  });

  it('are deleted with all references moved, in one transaction', async () => {
    const accountId = await addAccount(writer, { name: 'A', kind: 'cash', currency: 'EUR', openingMinor: 0 });
    const entry = { date: '2025-01-31', payee: 'Zoo', notes: '', categoryId: 'starter-children', amountMinor: -350 };
    await addEntry(writer, accountId, entry);
    await assign(writer, [{ month: '2025-01', currency: 'EUR', categoryId: 'starter-children', amountMinor: 500 }]);
    await setGoal(writer, {
      categoryId: 'starter-children',
      currency: 'EUR',
      kind: 'monthly',
      amountMinor: 500,
      byMonth: null,
    });
    const { date: firstDate, ...ofSchedule } = entry;
    const repetition = { firstDate, every: 1, unit: 'month', lastDate: null } as const;
    await addSchedule(writer, { ...ofSchedule, ...repetition, accountId, otherAccountId: null });
    await addRule(writer, {
      needs: 'all',
      conditions: [{ field: 'payee', test: 'is', value: 'zoo' }],
      categoryId: 'starter-children',
      payee: null,
      notes: null,
      status: null,
      split: [],
    });
    await deleteCategory(writer, 'starter-children', 'starter-leisure');
    expect(names()).not.toContain('Children');
    for (const table of ['entries', 'assignments', 'schedules', 'rules'])
      expect(writer.rows(`SELECT categoryId FROM ${table}`), table).toEqual([{ categoryId: 'starter-leisure' }]);
    expect(writer.rows('SELECT * FROM goals')).toEqual([]);
    // Another device made an entry meanwhile, or a part of one.
    const id = await addEntry(writer, accountId, entry);
    expect(names()).toContain('Children');
    await changeEntry(writer, id, { fields: entry, parts: [] }, { ...entry, categoryId: null }, [
      { id: '', categoryId: 'starter-children', amountMinor: -350, notes: '' },
    ]);
    expect(names()).toContain('Children');
    await deleteCategory(writer, 'starter-children', null);
    expect(names()).not.toContain('Children');
  });
});
