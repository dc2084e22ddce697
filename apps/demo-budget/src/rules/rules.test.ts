import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { addEntry } from '../entries/actions.ts';
import { saveNew } from '../entries/save.ts';
import { importEntries } from '../import/actions.ts';
import { payeeSearch, payeesInUse, type PayeeUseRow } from '../queries/payees.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { addTransfer } from '../transfers/actions.ts';
import { addRule, changeRule, deleteRule, renamePayee } from './actions.ts';
import { applyRules } from './apply.ts';
import { findMatches } from './matches.ts';
import { readRule, readRules, type Rule, type RuleCondition } from './rule.ts';
import { suggestFor } from './suggest.ts';

const nothing = { needs: 'all', categoryId: null, payee: null, notes: null, status: null, split: [] } as const;
const rule = ({ field = 'payee', test = 'contains', value = '', ...given }: Partial<Rule & RuleCondition>): Rule => ({
  ...nothing,
  conditions: [{ field, test, value }],
  ...given,
});
const coffee = { payee: 'CARD 4411 Nebelhorn  Café', notes: 'two', amountMinor: -350, accountId: 'purse' };

const nebelhorn: RuleCondition = { field: 'payee', test: 'contains', value: 'nebelhorn' };
const large: RuleCondition = { field: 'amount', test: 'at-least', value: '1000' };
const small: RuleCondition = { field: 'amount', test: 'at-most', value: '1000' };

describe('a rule', () => {
  it.each([
    [rule({ test: 'contains', value: 'nebelhorn café' }), true],
    [rule({ test: 'is', value: 'nebelhorn café' }), false],
    [rule({ test: 'is', value: 'card 4411 nebelhorn café' }), true],
    [rule({ field: 'notes', value: 'TWO' }), true],
    [rule({ value: ' ' }), false],
    [rule({ field: 'amount', test: 'is', value: '350' }), true],
    [rule({ field: 'amount', test: 'at-least', value: '351' }), false],
    [rule({ field: 'amount', test: 'at-most', value: '350' }), true],
    [rule({ test: 'starts', value: 'card  4411' }), true],
    [rule({ test: 'starts', value: 'nebelhorn' }), false],
    [rule({ test: 'one-of', value: 'Kiosk\ncard 4411 nebelhorn café' }), true],
    [rule({ test: 'one-of', value: 'Kiosk\nnebelhorn' }), false],
    [rule({ field: 'account', test: 'is', value: 'purse' }), true],
    [rule({ field: 'account', test: 'one-of', value: 'giro\npurse' }), true],
    [rule({ field: 'account', test: 'is', value: 'giro' }), false],
    [rule({ conditions: [nebelhorn, large] }), false],
    [rule({ conditions: [nebelhorn, small] }), true],
    [rule({ needs: 'any', conditions: [large, nebelhorn] }), true],
    [rule({ needs: 'any', conditions: [large] }), false],
  ])('%o matches: %s', (given, matches) => {
    expect(applyRules([{ ...given, categoryId: 'food' }], coffee).categoryId).toBe(matches ? 'food' : null);
  });

  it('wins if it comes first, and each rule sees the original entry', () => {
    const rules = [
      rule({ value: 'nebelhorn', payee: 'Nebelhorn' }),
      rule({ value: 'card 4411', categoryId: 'out' }),
      rule({ value: 'nebelhorn', payee: 'Other', categoryId: 'home' }),
    ];
    expect(applyRules(rules, coffee)).toMatchObject({ payee: 'Nebelhorn', notes: 'two', categoryId: 'out' });
    expect(applyRules([], coffee)).toEqual({
      payee: coffee.payee,
      notes: 'two',
      categoryId: null,
      status: null,
      split: [],
    });
    expect(applyRules([rule({ value: 'nebelhorn', notes: 'breakfast' })], coffee).notes).toBe('breakfast');
  });
});

describe('stored rules', () => {
  let writer: MemoryWriter;
  let accountId: string;
  let food: string;

  beforeEach(async () => {
    writer = memoryWriter();
    food = await addCategory(writer, 'Food', 'spending');
    accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  });

  it('apply to imported entries, which keep the identity from their statement', async () => {
    const market = rule({ value: 'market', categoryId: food, payee: 'Market', notes: 'by card' });
    await addRule(writer, {
      ...market,
      conditions: [...market.conditions, { field: 'account', test: 'is', value: accountId }],
    });
    const draft = {
      importKey: 'imported-1',
      date: '2025-01-01',
      amountMinor: -100,
      payee: 'MARKET 0815 BERLIN',
      notes: '',
      categoryName: '',
    };
    await importEntries(writer, accountId, [draft]);
    await expect(importEntries(writer, accountId, [draft])).resolves.toEqual({ addedIds: [], matchedDays: [] });
    expect(writer.rows('SELECT id, payee, notes, categoryId FROM entries')).toEqual([
      { id: 'imported-1', payee: 'Market', notes: 'by card', categoryId: food },
    ]);
  });

  it('apply to a new entry as a whole when it is saved, unless the user chose its category', async () => {
    await addRule(
      writer,
      rule({
        conditions: [
          { field: 'payee', test: 'is', value: 'kiosk' },
          { field: 'amount', test: 'at-most', value: '500' },
        ],
        categoryId: food,
        notes: 'small',
      }),
    );
    const result = {
      kind: 'entry',
      fields: { date: '2025-01-01', payee: 'Kiosk', notes: '', categoryId: null, amountMinor: -200 },
      parts: [],
    } as const;
    const account = { id: accountId, kind: 'checking' } as const;
    await saveNew(writer, account, { ...result, categoryIsOpen: true });
    await saveNew(writer, account, { ...result, categoryIsOpen: false });
    await saveNew(writer, account, {
      ...result,
      fields: { ...result.fields, payee: 'Somebody', amountMinor: -900 },
      categoryIsOpen: true,
    });
    expect(writer.rows('SELECT payee, notes, categoryId FROM entries ORDER BY rowid')).toEqual([
      { payee: 'Kiosk', notes: 'small', categoryId: food },
      { payee: 'Kiosk', notes: '', categoryId: null },
      { payee: 'Somebody', notes: '', categoryId: null },
    ]);
  });

  it('leave a new entry without a payee uncategorised, whatever other such entries have', async () => {
    const fields = { date: '2025-01-01', payee: '', notes: '', categoryId: food, amountMinor: -200 };
    await addEntry(writer, accountId, fields);
    await saveNew(
      writer,
      { id: accountId, kind: 'checking' },
      { kind: 'entry', fields: { ...fields, categoryId: null, amountMinor: -300 }, parts: [], categoryIsOpen: true },
    );
    expect(writer.rows('SELECT categoryId FROM entries ORDER BY rowid')).toEqual([
      { categoryId: food },
      { categoryId: null },
    ]);
  });

  it('set no category on off-budget imports', async () => {
    const pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
    await addRule(writer, rule({ value: 'market', categoryId: food, payee: 'Market' }));
    await importEntries(writer, pension, [
      { importKey: 'imported-1', date: '2025-01-01', amountMinor: -100, payee: 'MARKET', notes: '', categoryName: '' },
    ]);
    expect(writer.rows('SELECT payee, categoryId FROM entries')).toEqual([{ payee: 'Market', categoryId: null }]);
  });

  it('stop applying when they are deleted', async () => {
    const id = await addRule(writer, rule({ field: 'notes', test: 'is', value: 'x', categoryId: food }));
    expect(writer.rows<RuleRow>(rulesInOrder)).toHaveLength(1);
    await deleteRule(writer, id);
    expect(writer.rows<RuleRow>(rulesInOrder)).toEqual([]);
  });

  it('are stored as entered, and updated only in changed columns', async () => {
    const made = rule({ value: 'market', categoryId: food, needs: 'any', conditions: [nebelhorn, large, small] });
    await addRule(writer, made);
    const stored = (): RuleRow => writer.rows<RuleRow>(rulesInOrder)[0] as RuleRow;
    expect(readRule(stored())).toEqual(made);
    await changeRule(writer, stored(), { ...made, payee: 'Market' });
    expect(writer.written.at(-1)).toBe('UPDATE rules SET payee = ? WHERE id = ?');
    expect(readRule(stored())).toEqual({ ...made, payee: 'Market' });
  });

  it('have one condition if an older version wrote them, and are ignored if a newer one did', () => {
    const row = {
      id: '1',
      field: 'payee',
      test: 'contains',
      value: 'x',
      moreConditions: '[]',
      needs: 'all',
      categoryId: null,
      payee: null,
      notes: null,
      status: null,
      split: '[]',
    } as const;
    expect(readRule(row)).toEqual(rule({ value: 'x' }));
    for (const other of [
      { moreConditions: '{' },
      { status: 'reconciled' as const },
      { split: '[{"percent":"most"}]' },
      { moreConditions: '{}' },
      { moreConditions: '[{"field":"moon","test":"is","value":"full"}]' },
      { moreConditions: '[{"field":"amount","test":"starts","value":"1"}]' },
      { needs: 'most' },
    ]) {
      expect(readRules([{ ...row, ...other } as RuleRow])).toEqual([]);
    }
  });

  it('preview their matches and apply to existing entries, but not to parts, transfers or off-budget entries', async () => {
    const fields = { date: '2025-01-01', notes: '', categoryId: null, amountMinor: -100 };
    const pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
    const plain = await addEntry(writer, accountId, { ...fields, payee: 'MARKET ÜBERSEE' });
    const split = await addEntry(writer, accountId, { ...fields, payee: 'market übersee', date: '2025-01-02' }, [
      { id: '', categoryId: null, amountMinor: -100, notes: '' },
    ]);
    const outside = await addEntry(writer, pension, { ...fields, payee: 'Market Übersee' });
    await addEntry(writer, accountId, { ...fields, payee: 'Kiosk' });
    await addTransfer(writer, accountId, pension, {
      date: '2025-01-01',
      notes: 'market übersee',
      amountMinor: -1,
      otherMinor: 1,
      categoryId: null,
    });
    const market = rule({ value: 'übersee', categoryId: food, payee: 'Market' });
    const matches = await findMatches(writer, market, () => true);
    expect([...(matches?.ids ?? [])].sort()).toEqual([plain, split, outside].sort());
    expect(matches?.newest[0]?.id).toBe(split);
    await addRule(writer, market, matches?.ids);
    expect(writer.rows('SELECT id, payee, categoryId FROM entries WHERE transferId IS NULL ORDER BY rowid')).toEqual([
      { id: plain, payee: 'Market', categoryId: food },
      { id: split, payee: 'Market', categoryId: null },
      { id: outside, payee: 'Market', categoryId: null },
      { id: expect.any(String) as string, payee: 'Kiosk', categoryId: null },
    ]);
    await expect(findMatches(writer, market, () => false)).resolves.toBeUndefined();
    // Entries that became transfers since the preview.
    const transfers = writer.rows<{ id: string }>('SELECT id FROM entries WHERE transferId IS NOT NULL');
    const ids = transfers.map(({ id }) => id);
    const before = writer.rows('SELECT * FROM entries');
    await addRule(writer, { ...market, notes: 'weekly', status: 'cleared' }, ids);
    await addRule(
      writer,
      {
        ...market,
        categoryId: null,
        split: [
          { categoryId: food, percent: 60 },
          { categoryId: null, percent: 40 },
        ],
      },
      ids,
    );
    expect(writer.rows('SELECT * FROM entries')).toEqual(before);
    expect(writer.rows('SELECT entryId FROM parts')).toEqual([{ entryId: split }]);
  });

  it.each([
    ['müll', ['Bäckerei MÜLLER']],
    ['BÄCKEREI', ['Bäckerei MÜLLER']],
    ['backerei muller', ['Bäckerei MÜLLER']],
    ['ИВАН', ['иван']],
    ['arke', ['Market']],
    ['ÜLLE', ['Bäckerei MÜLLER']],
    ['ван', ['иван']],
    ['fresh', []],
    ['"', []],
    [' ', ['Bäckerei MÜLLER', 'Market', 'иван']],
  ])('payees are found whatever the case of their letters: %s', async (text, found) => {
    for (const payee of ['Bäckerei MÜLLER', 'Market', 'иван', ''])
      await addEntry(writer, accountId, {
        payee,
        notes: 'fresh',
        amountMinor: -1,
        categoryId: null,
        date: '2025-01-01',
      });
    const rows = writer.rows<PayeeUseRow>(payeesInUse, payeeSearch(text));
    expect(rows.map(({ payee }) => payee)).toEqual(found);
  });

  it('a payee has the category of its newest categorised entry', async () => {
    const home = await addCategory(writer, 'Home', 'spending');
    for (const [date, categoryId] of [
      ['2025-01-02', home],
      ['2025-01-01', food],
      ['2025-01-03', null],
    ] as const)
      await addEntry(writer, accountId, { payee: 'Market', notes: '', amountMinor: -1, categoryId, date });
    expect(writer.rows<PayeeUseRow>(payeesInUse, payeeSearch(''))).toEqual([
      { payee: 'Market', entryCount: 3, categoryId: home },
    ]);
    await expect(suggestFor(writer, { payee: 'Market', notes: '', amountMinor: -1, accountId })).resolves.toMatchObject(
      { categoryId: home },
    );
  });

  it('a payee renamed to an existing name merges with that payee, with the latest category', async () => {
    const fields = { notes: '', amountMinor: -1, categoryId: null };
    await addEntry(writer, accountId, { ...fields, payee: 'Market', date: '2025-01-01' });
    await addEntry(writer, accountId, { ...fields, payee: 'MARKET 0815', date: '2025-01-02', categoryId: food });
    await expect(renamePayee(writer, 'MARKET 0815', 'Market')).resolves.toBe(1);
    expect(writer.rows<PayeeUseRow>(payeesInUse, payeeSearch(''))).toEqual([
      { payee: 'Market', entryCount: 2, categoryId: food },
    ]);
  });
});
