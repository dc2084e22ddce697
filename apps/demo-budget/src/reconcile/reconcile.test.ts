import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount, setAccountClosed } from '../accounts/actions.ts';
import { addEntry, deleteEntries, setCleared, unlock } from '../entries/actions.ts';
import {
  accountsToReconcile,
  clearedOfAccount,
  type AccountToReconcileRow,
  type ClearedRow,
} from '../queries/accounts.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { differenceOf, enterDifference, finishReconciling, mayEnter } from './actions.ts';

let writer: MemoryWriter;
let accountId: string;
let rent: string;

beforeEach(async () => {
  writer = memoryWriter();
  accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 100_000 });
  rent = await addEntry(writer, accountId, {
    date: '2025-01-01',
    payee: 'Rent',
    notes: '',
    categoryId: null,
    amountMinor: -70_000,
  });
  await addEntry(writer, accountId, {
    date: '2025-01-02',
    payee: 'Market',
    notes: '',
    categoryId: null,
    amountMinor: -2_000,
  });
});

const cleared = (): ClearedRow | undefined =>
  writer.rows<ClearedRow>(clearedOfAccount, [accountId, accountId, accountId])[0];
const statuses = (): unknown[] =>
  writer.rows<{ status: string }>('SELECT status FROM entries ORDER BY date').map(({ status }) => status);

describe('reconciling', () => {
  it('sums the cleared entries, and locks them', async () => {
    await setCleared(writer, [rent], true);
    expect(cleared()).toEqual({ clearedMinor: 30_000, toReconcile: 1 });
    await expect(finishReconciling(writer, accountId)).resolves.toBe(1);
    expect(cleared()).toEqual({ clearedMinor: 30_000, toReconcile: 0 });
    await expect(setCleared(writer, [rent], false)).resolves.toBe(0);
    await expect(deleteEntries(writer, [rent])).resolves.toBe(0);
    expect(statuses()).toEqual(['reconciled', 'open']);
    await unlock(writer, rent);
    await expect(deleteEntries(writer, [rent])).resolves.toBe(1);
  });

  it('is due for the open accounts of a currency that have cleared entries', async () => {
    const due = (currency: string): string[] =>
      writer.rows<AccountToReconcileRow>(accountsToReconcile, [currency]).map(({ name }) => name);
    expect(due('EUR')).toEqual([]);
    await setCleared(writer, [rent], true);
    expect([due('EUR'), due('USD')]).toEqual([['Checking'], []]);
    await setAccountClosed(writer, accountId, true);
    expect(due('EUR')).toEqual([]);
    await setAccountClosed(writer, accountId, false);
    await finishReconciling(writer, accountId);
    expect(due('EUR')).toEqual([]);
  });

  it('adds a difference once, however often it is requested', async () => {
    await setCleared(writer, [rent], true);
    const statement = { accountId, date: '2025-01-31', statementMinor: 29_500, clearedMinor: 30_000n };
    expect(differenceOf(statement)).toBe(-500n);
    await enterDifference(writer, statement);
    await enterDifference(writer, statement);
    expect(cleared()).toEqual({ clearedMinor: 29_500, toReconcile: 2 });
    await enterDifference(writer, { ...statement, clearedMinor: 29_500n });
    expect(statuses()).toHaveLength(3);
  });

  it('adds no entry whose amount exceeds the maximum', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const statement = { accountId, date: '2025-01-31', statementMinor: -most, clearedMinor: 1n };
    expect([mayEnter(differenceOf(statement)), mayEnter(BigInt(-most))]).toEqual([false, true]);
    await enterDifference(writer, statement);
    expect(statuses()).toHaveLength(2);
  });
});
