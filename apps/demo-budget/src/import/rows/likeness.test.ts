import { describe, expect, it } from 'vitest';
import { findAlike, payeesAlike, type KnownEntry } from './likeness.ts';

const draft = (
  date: string,
  payee: string,
  amountMinor = -350,
): { importKey: string; date: string; payee: string; amountMinor: number; notes: string } => ({
  importKey: `${date} ${payee}`,
  date,
  payee,
  amountMinor,
  notes: '',
});
const known = (
  id: string,
  date: string,
  payee: string,
  amountMinor = -350,
  importKey: string | null = null,
): KnownEntry => ({ id, date, payee, amountMinor, importKey });

describe('a similar entry', () => {
  it('has the same amount, a payee with a common word, and a nearby day', () => {
    const bank = draft('2025-02-04', 'THIRD RAIL COFFEE 4410');
    expect(findAlike([bank], [known('a', '2025-01-31', 'Third Rail')]).get(bank)?.id).toBe('a');
    for (const other of [
      known('b', '2025-01-30', 'Third Rail'),
      known('c', '2025-02-04', 'Third Rail', -351),
      known('d', '2025-02-04', 'Kiosk'),
    ]) {
      expect(findAlike([bank], [other]).size).toBe(0);
    }
  });

  it('matches at most one row, the nearest, so that two equal purchases stay two', () => {
    const rows = [draft('2025-02-03', 'Coffee'), draft('2025-02-02', 'Coffee')];
    const alike = findAlike(rows, [known('a', '2025-02-02', 'Coffee')]);
    expect([...alike].map(([row, entry]) => [row.date, entry.id])).toEqual([['2025-02-02', 'a']]);
  });

  it('leaves the next one to the next row, also if both are nearest to the first row', () => {
    const rows = [draft('2025-02-03', 'Coffee'), draft('2025-02-04', 'Coffee')];
    const alike = findAlike(rows, [known('a', '2025-02-03', 'Coffee'), known('b', '2025-02-02', 'Coffee')]);
    expect([...alike].map(([row, entry]) => [row.date, entry.id])).toEqual([
      ['2025-02-03', 'a'],
      ['2025-02-04', 'b'],
    ]);
  });
});

describe('an imported entry', () => {
  it('matches only entries of the same day, so yesterday’s coffee on the previous statement is not a duplicate', () => {
    const coffee = draft('2025-02-02', 'Coffee');
    expect(findAlike([coffee], [known('a', '2025-02-01', 'Coffee', -350, 'imported-1')]).size).toBe(0);
    expect(findAlike([coffee], [known('a', '2025-02-02', 'Coffee', -350, 'imported-1')]).size).toBe(1);
  });
});

describe('payees', () => {
  it('match by a common word, ignoring case and accents', () => {
    expect(payeesAlike('CAFÉ NERO', 'Café nero Ltd')).toBe(true);
    expect(payeesAlike('', 'Anybody')).toBe(true);
    expect(payeesAlike('AB 12', 'CD 34')).toBe(true); // without a word of three letters, any payee matches
    expect(payeesAlike('Market', 'Supermarket')).toBe(false);
  });
});
