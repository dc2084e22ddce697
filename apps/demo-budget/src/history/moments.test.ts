import type { ColumnChange, RowHistoryPage, RowVersion } from '@rockpool/client';
import { describe, expect, it } from 'vitest';
import type { Wording } from '../words/row-words.ts';
import { momentLines, momentTitle } from './moment-words.ts';
import { momentsOf, type HistoryRow, type LoadedHistory } from './moments.ts';

const entry: HistoryRow = { table: 'entries', key: 'e' };
const part: HistoryRow = { table: 'parts', key: 'e/1' };

function change(column: string, before: ColumnChange['before'], after: ColumnChange['after']): ColumnChange {
  return { column, before, after, isDocument: false };
}

function version(
  number: number | null,
  kind: RowVersion['kind'],
  changes: readonly ColumnChange[] = [],
  writtenMs = number ?? 0,
): RowVersion {
  const facts = {
    author: 'anna',
    siteId: 's',
    sequence: 1,
    isOwn: true,
    receivedMs: null,
    names: [],
    laterColumns: [],
  };
  return { ...facts, version: number, kind, writtenMs, changes };
}

function history(row: HistoryRow, versions: readonly RowVersion[], next: number | null = null): LoadedHistory {
  const rest = { source: 'server', completeUntilMs: 1, isTruncated: false, error: null } as const;
  const page: RowHistoryPage = { ...rest, versions, next };
  return { row, page };
}

describe('moments', () => {
  it('combine the changes of one transaction, newest first, with unsent ones before all others', () => {
    const moments = momentsOf([
      history(entry, [version(null, 'update', [], 50), version(9, 'update'), version(2, 'insert')]),
      history(part, [version(null, 'update', [], 40), version(9, 'insert'), version(5, 'insert')]),
    ]);
    expect(moments.map((moment) => [moment.version, moment.changes.length])).toEqual([
      [null, 1],
      [null, 1],
      [9, 2],
      [5, 1],
      [2, 1],
    ]);
    expect(moments.map(({ writtenMs }) => writtenMs).slice(0, 2)).toEqual([50, 40]);
  });

  it('omit transactions that may include unread versions of a different row', () => {
    const moments = momentsOf([
      history(entry, [version(9, 'update'), version(7, 'update')], 7),
      history(part, [version(8, 'update'), version(3, 'insert')]),
    ]);
    expect(moments.map((moment) => moment.version)).toEqual([9, 8, 7]);
  });
});

describe('the words of a moment', () => {
  const wording: Wording = {
    locale: 'en',
    categoryNames: new Map([['food', 'Groceries']]),
    accountNames: new Map([['giro', 'Giro']]),
    currency: 'EUR',
  };
  const linesOf = (row: HistoryRow, of: RowVersion): unknown =>
    momentLines(momentsOf([history(row, [of])])[0] ?? never(), 'EUR', wording).map(
      ({ label, before, after }) => `${label}: ${before ?? ''} > ${after ?? ''}`,
    );

  it('name fields and values like the app, and omit values that no user chose or sees', () => {
    expect(
      linesOf(
        entry,
        version(1, 'insert', [
          change('accountId', null, 'giro'),
          change('payee', null, 'Market'),
          change('notes', null, ''),
          change('categoryId', null, 'food'),
          change('amountMinor', null, -4_250),
          change('enteredAtMs', null, 7),
          change('importKey', null, null),
          change('status', null, 'open'),
        ]),
      ),
    ).toEqual(['Account:  > Giro', 'Payee:  > Market', 'Category:  > Groceries', 'Amount:  > -€42.50']);
    expect(
      linesOf(
        entry,
        version(2, 'update', [
          change('categoryId', 'food', null),
          change('amountMinor', -4_250, 0),
          change('status', 'open', 'cleared'),
          change('transferId', null, 't'),
        ]),
      ),
    ).toEqual([
      'Category: Groceries > no category',
      'Amount: -€42.50 > €0.00',
      'Status: not cleared > cleared',
      'Transfer: no > yes',
    ]);
    expect(linesOf(entry, version(3, 'delete', [change('payee', 'Market', null)]))).toEqual(['Payee: Market > ']);
  });

  it('show a part of a split, an assignment and a goal as one thing each', () => {
    const values = [
      change('entryId', null, 'e'),
      change('categoryId', null, 'food'),
      change('amountMinor', null, -500),
    ];
    expect(linesOf(part, version(1, 'insert', values))).toEqual(['Part 1:  > Groceries, -€5.00']);
    expect(linesOf(part, version(2, 'update', [change('amountMinor', -500, -600)]))).toEqual([
      'Part 1 amount: -€5.00 > -€6.00',
    ]);
    expect(
      linesOf(
        { table: 'assignments', key: 'a' },
        version(3, 'insert', [change('month', null, '2026-03'), change('amountMinor', null, 5_000)]),
      ),
    ).toEqual(['Assigned in March 2026:  > €50.00']);
    expect(linesOf({ table: 'goals', key: 'food/EUR' }, version(4, 'update', [change('amountMinor', 1, 2)]))).toEqual([
      'Goal amount: €0.01 > €0.02',
    ]);
  });

  it('describe the change of the row whose history is shown', () => {
    const [both] = momentsOf([history(entry, [version(1, 'insert')]), history(part, [version(1, 'insert')])]);
    const [later] = momentsOf([history(part, [version(2, 'delete')])]);
    expect(momentTitle(both ?? never(), entry)).toBe('Added');
    expect(momentTitle(later ?? never(), entry)).toBe('Changed');
  });
});

function never(): never {
  throw new Error('there is a moment');
}
