import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXTENT_BYTES, ExtentPool } from './extent-pool.ts';

const EXTENTS = 60;

type Step =
  | { readonly kind: 'read'; readonly extent: number }
  | { readonly kind: 'readAhead'; readonly extent: number; readonly count: number }
  | { readonly kind: 'patch'; readonly extent: number }
  | { readonly kind: 'drop'; readonly extent: number };

const extent = fc.nat(EXTENTS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('read' as const), extent }),
  fc.record({ kind: fc.constant('readAhead' as const), extent, count: fc.integer({ min: 2, max: 4 }) }),
  fc.record({ kind: fc.constant('patch' as const), extent }),
  fc.record({ kind: fc.constant('drop' as const), extent }),
);

describe('the page pool', () => {
  it('holds the newest bytes of every cached extent, and stays within its limit', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const pool = new ExtentPool(32 * EXTENT_BYTES);
        const database = Array.from({ length: EXTENTS }, (_, index) => index);
        const inPool = (): number => database.filter((_, index) => pool.has(index)).length;
        for (const { kind, extent: at, ...rest } of steps) {
          if (kind === 'patch') {
            database[at] = (database[at]! + 1) % 256;
            pool.patch(Uint8Array.of(database[at]), 0, at * EXTENT_BYTES, 1);
          } else if (kind === 'drop') {
            pool.drop(at);
          } else if (!pool.has(at)) {
            let count = 1;
            while ('count' in rest && count < rest.count && at + count < EXTENTS && !pool.has(at + count)) count += 1;
            const bytes = count === 1 ? pool.take(at) : pool.takeRun(at, count);
            for (let index = 0; index < count; index += 1) bytes[index * EXTENT_BYTES] = database[at + index]!;
            expect(pool.find(at)?.[0]).toBe(database[at]);
          }
          expect(inPool()).toBeLessThanOrEqual(32);
          for (let index = 0; index < EXTENTS; index += 1)
            if (pool.has(index)) expect(pool.find(index)![0]).toBe(database[index]);
        }
      }),
    );
  });

  it('keeps extents that were read individually while a scan passes through', () => {
    const pool = new ExtentPool(64 * EXTENT_BYTES);
    expect(pool.runExtents).toBe(8);
    pool.take(1000);
    for (let at = 0; at < 800; at += 8) pool.takeRun(at, 8);
    expect(pool.has(1000)).toBe(true);
    expect(pool.has(799)).toBe(true);
    expect(pool.has(0)).toBe(false);
  });
});
