import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededBytes } from './seeded-bytes.ts';
import { seedOfRun } from './seed.ts';

describe('everything random in a test file', () => {
  const streamOfThisFile = (): SeededBytes => new SeededBytes(`${seedOfRun} ${expect.getState().testPath ?? ''}`);

  it('follows from the seed of the run and the path of the file', () => {
    const same = streamOfThisFile();
    const expected = new Uint8Array(8);
    same.fill(expected);
    expect([...randomBytes(8)]).toEqual([...expected]);
    expect(Math.random()).toBe(same.fraction());
    expect(crypto.randomUUID()).toBe(same.uuid());
    expect(randomUUID()).toBe(same.uuid());
    same.fill(expected);
    expect([...crypto.getRandomValues(new Uint8Array(8))]).toEqual([...expected]);
    expect(randomInt(5, 1_000)).toBe(5 + Math.floor(same.fraction() * 995));
  });

  it('includes the cases of fast-check, which follow from the seed', () => {
    const cases = (seed?: number): unknown[] =>
      fc.sample(fc.string(), seed === undefined ? { numRuns: 20 } : { numRuns: 20, seed });
    expect(cases()).toEqual(cases(seedOfRun));
  });
});

describe('a stream of bytes', () => {
  it('differs if any of its inputs differs', () => {
    const drawn = ['1 a', '1 b', '2 a'].map((from) => new SeededBytes(from).uuid());
    expect(new Set(drawn).size).toBe(3);
  });

  it('is evenly distributed', () => {
    const bytes = new Uint8Array(100_000);
    new SeededBytes('any').fill(bytes);
    const counts = new Uint32Array(256);
    for (const byte of bytes) counts[byte]! += 1;
    // About 391 of each; six standard deviations are 119.
    expect(Math.min(...counts)).toBeGreaterThan(270);
    expect(Math.max(...counts)).toBeLessThan(510);
  });

  it('makes fractions in [0, 1) and UUIDs of version 4', () => {
    const bytes = new SeededBytes('any');
    const fractions = Array.from({ length: 10_000 }, () => bytes.fraction());
    expect(Math.min(...fractions)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...fractions)).toBeLessThan(1);
    expect(fractions.reduce((sum, one) => sum + one, 0) / fractions.length).toBeCloseTo(0.5, 1);
    expect(bytes.uuid()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
});
