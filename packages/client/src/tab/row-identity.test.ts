import { describe, expect, it } from 'vitest';
import type { SqlRow } from '../rpc/sql-value.ts';
import { keepRowIdentity } from './row-identity.ts';

const rows = (...ids: string[]): SqlRow[] => ids.map((id) => ({ id, text: `text of ${id}`, bytes: new Uint8Array([id.length]) }));
const kept = (previous: readonly SqlRow[], next: readonly SqlRow[]): number => next.filter((row) => previous.includes(row)).length;

describe('keepRowIdentity', () => {
  it('gives the old list when every row is equal', () => {
    const previous = rows('a', 'b');
    expect(keepRowIdentity(previous, rows('a', 'b'))).toBe(previous);
  });

  it('keeps all other rows when one is added, removed or changed anywhere', () => {
    const previous = rows('a', 'b', 'c', 'd');
    expect(kept(previous, keepRowIdentity(previous, rows('a', 'x', 'b', 'c', 'd')))).toBe(4);
    expect(kept(previous, keepRowIdentity(previous, rows('b', 'c', 'd')))).toBe(3);
    const changed = rows('a', 'b', 'c', 'd').map((row) => (row['id'] === 'c' ? { ...row, text: 'other' } : row));
    const result = keepRowIdentity(previous, changed);
    expect(kept(previous, result)).toBe(3);
    expect(result).toEqual(changed);
  });

  it('keeps rows that changed places', () => {
    const previous = rows('a', 'b', 'c', 'd', 'e');
    expect(kept(previous, keepRowIdentity(previous, rows('e', 'c', 'a', 'd', 'b')))).toBe(5);
  });

  it('never keeps a row that differs in a value, a type or a column', () => {
    const previous: SqlRow[] = [{ id: 'a', n: 1 }];
    for (const next of [{ id: 'a', n: 2 }, { id: 'a', n: '1' }, { id: 'a', n: 1n }, { id: 'a', n: 1, m: 1 }, { id: 'a', m: 1 }, { n: 1, id: 'a' }]) {
      const result = keepRowIdentity(previous, [next]);
      expect(result).toEqual([next]);
      expect(result[0]).toBe(next);
    }
  });
});
