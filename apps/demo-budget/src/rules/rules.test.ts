import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { addEntry } from '../entries/actions.ts';
import { importEntries } from '../import/actions.ts';
import { payeesInUse, type PayeeUseRow } from '../queries/payees.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { memoryWriter, type MemoryWriter } from '../testing/memory-writer.ts';
import { addRule, deleteRule, renamePayee } from './actions.ts';
import { applyRules } from './apply.ts';

const rule = (given: Partial<RuleRow>): RuleRow => ({ id: '1', field: 'payee', test: 'contains', value: '', categoryId: null, payee: null, ...given });
const coffee = { payee: 'CARD 4411 Nebelhorn  Café', notes: 'two', amountMinor: -350 };

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
  ])('%o matches: %s', (given, matches) => {
    expect(applyRules([{ ...given, categoryId: 'food' }], coffee).categoryId).toBe(matches ? 'food' : null);
  });

  it('comes first where two match, and each is tried on the entry as it came', () => {
    const rules = [rule({ value: 'nebelhorn', payee: 'Nebelhorn' }), rule({ value: 'card 4411', categoryId: 'out' }), rule({ value: 'nebelhorn', payee: 'Other', categoryId: 'home' })];
    expect(applyRules(rules, coffee)).toEqual({ payee: 'Nebelhorn', categoryId: 'out' });
    expect(applyRules([], coffee)).toEqual({ payee: coffee.payee, categoryId: null });
  });
});

describe('rules in the budget', () => {
  let writer: MemoryWriter;
  let accountId: string;
  let food: string;

  beforeEach(async () => {
    writer = memoryWriter();
    food = await addCategory(writer, 'Food', 'spending');
    accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  });

  it('are applied to what is imported, whose identity stays that of the statement', async () => {
    await addRule(writer, { field: 'payee', test: 'contains', value: 'market', categoryId: food, payee: 'Market' });
    const draft = { importKey: 'imported-1', date: '2025-01-01', amountMinor: -100, payee: 'MARKET 0815 BERLIN', notes: '' };
    await importEntries(writer, accountId, [draft]);
    await expect(importEntries(writer, accountId, [draft])).resolves.toBe(0);
    expect(writer.rows('SELECT id, payee, categoryId FROM entries')).toEqual([{ id: 'imported-1', payee: 'Market', categoryId: food }]);
  });

  it('go when they are deleted', async () => {
    const id = await addRule(writer, { field: 'notes', test: 'is', value: 'x', categoryId: food, payee: null });
    expect(writer.rows<RuleRow>(rulesInOrder)).toHaveLength(1);
    await deleteRule(writer, id);
    expect(writer.rows<RuleRow>(rulesInOrder)).toEqual([]);
  });

  it('a payee that is renamed becomes one with who has that name already, with the category that came last', async () => {
    const fields = { notes: '', amountMinor: -1, categoryId: null };
    await addEntry(writer, accountId, { ...fields, payee: 'Market', date: '2025-01-01' });
    await addEntry(writer, accountId, { ...fields, payee: 'MARKET 0815', date: '2025-01-02', categoryId: food });
    await expect(renamePayee(writer, 'MARKET 0815', 'Market')).resolves.toBe(1);
    expect(writer.rows<PayeeUseRow>(payeesInUse, [''])).toEqual([{ payee: 'Market', entryCount: 2, categoryId: food }]);
  });
});
