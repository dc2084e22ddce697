import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory, deleteCategory } from '../categories/actions.ts';
import { addEntry } from '../entries/actions.ts';
import { saveNew } from '../entries/save.ts';
import { importEntries } from '../import/actions.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { addRule } from './actions.ts';
import { applyRules } from './apply.ts';
import { isSplit, readSplit, splitAmount, type RulePart } from './rule-split.ts';
import { readRules, type Rule } from './rule.ts';

const part = (percent: number | null, categoryId: string | null = null): RulePart => ({ categoryId, percent });
const amounts = (amountMinor: number, ...shares: (number | null)[]): number[] =>
  splitAmount(
    amountMinor,
    shares.map((share) => part(share)),
  ).map((one) => one.amountMinor);

describe('a split by percentages', () => {
  it.each([
    [-1_000, [60, null], [-600, -400]],
    [1_001, [50, null], [501, 500]],
    [-1, [30, 30, null], [-0, -1, 0]],
    [100, [33.33, 33.33, null], [33, 34, 33]],
    [Number.MAX_SAFE_INTEGER, [50, null], [4_503_599_627_370_496, 4_503_599_627_370_495]],
    [0, [50, null], [0, 0]],
  ])('divides %d by %o into %o', (amountMinor, shares, wanted) => {
    expect(amounts(amountMinor, ...shares).map((amount) => amount + 0)).toEqual(wanted.map((amount) => amount + 0));
  });

  it.each([
    [[], true],
    [[part(60), part(null)], true],
    [[part(null)], false],
    [[part(60), part(40)], false],
    [[part(60), part(40), part(null)], false],
    [[part(0), part(null)], false],
    [[part(null), part(null)], false],
  ])('is complete with the parts %o: %s', (parts, complete) => {
    expect(isSplit(parts)).toBe(complete);
    expect(readSplit(JSON.stringify(parts))).toEqual(complete ? parts : undefined);
  });

  it('is not read from text in a different format', () => {
    for (const text of ['', '{}', '[1,2]', '[{"categoryId":7,"percent":1},{"categoryId":null,"percent":null}]'])
      expect(readSplit(text)).toBeUndefined();
  });
});

describe('a rule that splits and clears', () => {
  let writer: MemoryWriter;
  let accountId: string;
  let food: string;
  let home: string;
  let rule: Rule;

  beforeEach(async () => {
    writer = memoryWriter();
    food = await addCategory(writer, 'Food', 'spending');
    home = await addCategory(writer, 'Home', 'spending');
    accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 0 });
    rule = {
      needs: 'all',
      conditions: [{ field: 'payee', test: 'contains', value: 'market' }],
      categoryId: null,
      payee: null,
      notes: null,
      status: 'open',
      split: [part(60, food), part(null, home)],
    };
  });

  const partsNow = (): unknown[] => writer.rows('SELECT id, categoryId, amountMinor FROM parts ORDER BY id');
  const entry = (payee: string, amountMinor: number, categoryId: string | null = null) => ({
    date: '2025-01-01',
    payee,
    notes: '',
    categoryId,
    amountMinor,
  });

  it('applies to imported entries', async () => {
    await addRule(writer, rule);
    const draft = { ...entry('MARKET', -1_001), importKey: 'imported', categoryName: '' };
    await importEntries(writer, accountId, [draft, { ...draft, importKey: 'other', payee: 'Kiosk' }]);
    expect(writer.rows('SELECT id, status, categoryId FROM entries ORDER BY id')).toEqual([
      { id: 'imported', status: 'open', categoryId: null },
      { id: 'other', status: 'cleared', categoryId: null },
    ]);
    expect(partsNow()).toEqual([
      { id: 'imported/1', categoryId: food, amountMinor: -601 },
      { id: 'imported/2', categoryId: home, amountMinor: -400 },
    ]);
    // The entry is imported again, on another device, after its parts were changed.
    await writer.execute("UPDATE parts SET amountMinor = -501, categoryId = NULL WHERE id = 'imported/1'");
    await importEntries(writer, accountId, [draft]);
    expect(partsNow()).toEqual([
      { id: 'imported/1', categoryId: null, amountMinor: -501 },
      { id: 'imported/2', categoryId: home, amountMinor: -400 },
    ]);
  });

  it('applies to typed entries, unless the user chose a category', async () => {
    await addRule(writer, { ...rule, status: 'cleared' });
    const account = { id: accountId, kind: 'checking' } as const;
    const result = { kind: 'entry', parts: [], categoryIsOpen: true } as const;
    await saveNew(writer, account, { ...result, fields: entry('Market', -500) });
    await saveNew(writer, account, { ...result, fields: entry('Market', -700, food), categoryIsOpen: false });
    expect(writer.rows('SELECT amountMinor, status, categoryId FROM entries ORDER BY amountMinor DESC')).toEqual([
      { amountMinor: -500, status: 'cleared', categoryId: null },
      { amountMinor: -700, status: 'cleared', categoryId: food },
    ]);
    expect(partsNow()).toHaveLength(2);
  });

  it('applies to existing entries with the same amounts, and leaves reconciled and split ones as they are', async () => {
    const plain = await addEntry(writer, accountId, entry('Market', -1_001, food), [], 'cleared');
    const sure = await addEntry(writer, accountId, entry('Market', 333), [], 'reconciled');
    const divided = await addEntry(writer, accountId, entry('Market', -9), [
      { id: '', categoryId: home, amountMinor: -9, notes: 'all' },
    ]);
    await addRule(writer, rule, [plain, sure, divided]);
    expect(
      writer.rows<{ entryId: string; amountMinor: number }>('SELECT entryId, amountMinor FROM parts ORDER BY rowid'),
    ).toEqual(
      expect.arrayContaining([
        { entryId: divided, amountMinor: -9 },
        ...[-601, -400].map((amountMinor) => ({ entryId: plain, amountMinor })),
        ...[200, 133].map((amountMinor) => ({ entryId: sure, amountMinor })),
      ]),
    );
    expect(partsNow()).toHaveLength(5);
    expect(writer.rows('SELECT status, categoryId FROM entries ORDER BY amountMinor')).toEqual([
      { status: 'open', categoryId: null },
      { status: 'open', categoryId: null },
      { status: 'reconciled', categoryId: null },
    ]);
  });

  it('applies to existing entries of any size with the same amounts as to new ones', async () => {
    const ids: string[] = [];
    const given = [-1_234_567, 10_000, 99_999, Number.MAX_SAFE_INTEGER];
    for (const amountMinor of given) ids.push(await addEntry(writer, accountId, entry('Market', amountMinor)));
    await addRule(writer, rule, ids);
    for (const [index, amountMinor] of given.entries())
      expect(
        writer.rows('SELECT categoryId, amountMinor FROM parts WHERE entryId = ? ORDER BY id', [ids[index] ?? '']),
      ).toEqual(splitAmount(amountMinor, rule.split));
  });

  it('leaves the category to the first rule that sets one or splits', () => {
    const subject = { payee: 'Market', notes: '', amountMinor: -1, accountId };
    const other = { ...rule, split: [], categoryId: home };
    expect(applyRules([rule, other], subject)).toMatchObject({ categoryId: null, split: rule.split });
    expect(applyRules([other, rule], subject)).toMatchObject({ categoryId: home, split: [] });
  });

  it('follows a deleted category to its replacement', async () => {
    await addRule(writer, rule);
    await deleteCategory(writer, food, home);
    await deleteCategory(writer, home, null);
    expect(readRules(writer.rows<RuleRow>(rulesInOrder))[0]?.split).toEqual([part(60), part(null)]);
  });
});
