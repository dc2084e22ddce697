import { describe, expect, it } from 'vitest';
import { createIdSource, newId } from './new-id.ts';

function sourceAt(timesMs: number[], fill = 0xff): () => string {
  return createIdSource({ nowMs: () => timesMs.shift() ?? 0, random: (bytes) => bytes.fill(fill) });
}

describe('newId', () => {
  it('returns a UUID of version 7', () => {
    expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('begins with the wall time in ms', () => {
    expect(sourceAt([0x0123456789ab])()).toMatch(/^01234567-89ab-7/);
  });

  it('returns ids that sort in creation order even if the clock stands still or is set back, or the counter overflows', () => {
    const timesMs = [1000, ...Array.from({ length: 5000 }, () => 1000), 10, 1001, 2000];
    const next = sourceAt([...timesMs]);
    const ids = timesMs.map(() => next());
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
