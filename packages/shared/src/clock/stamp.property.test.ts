import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ageOfStampUs } from './age.ts';
import { correctStampUs, nextLocalStampUs } from './stamp.ts';

const NOW_MS = 1_700_000_000_000;
const YEAR_MS = 365 * 24 * 3600 * 1000;

describe('stamps of a site', () => {
  it('always rise, whatever the local clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: NOW_MS - YEAR_MS, max: NOW_MS + YEAR_MS }), { minLength: 1 }), (clock) => {
        let last = 0;
        for (const nowMs of clock) {
          const next = nextLocalStampUs(nowMs * 1000, last);
          expect(next).toBeGreaterThan(last);
          last = next;
        }
      }),
    );
  });
});

describe('stamp correction', () => {
  const offset = fc.integer({ min: -YEAR_MS, max: YEAR_MS });

  it('gives the same time whatever the clock of the client is set to [MR-05]', () => {
    fc.assert(
      fc.property(offset, fc.nat({ max: 10_000_000 }), (offsetMs, ageMs) => {
        const clientNowMs = NOW_MS + offsetMs;
        const ageUs = ageOfStampUs((clientNowMs - ageMs) * 1000, clientNowMs * 1000);
        const corrected = correctStampUs({ ageUs, receivedMs: NOW_MS, lastOfSiteUs: 0, seenUs: 0 });
        expect(corrected).toBe((NOW_MS - ageMs) * 1000);
      }),
    );
  });

  it('never dates a write after its arrival, unless its site wrote or saw a later stamp [MR-05]', () => {
    fc.assert(
      fc.property(
        offset,
        offset,
        fc.nat({ max: NOW_MS * 1000 }),
        fc.nat({ max: NOW_MS * 1000 }),
        (writtenOffset, sentOffset, lastOfSiteUs, seenUs) => {
          const corrected = correctStampUs({
            ageUs: ageOfStampUs((NOW_MS + writtenOffset) * 1000, (NOW_MS + sentOffset) * 1000),
            receivedMs: NOW_MS,
            lastOfSiteUs,
            seenUs,
          });
          expect(corrected).toBeLessThanOrEqual(Math.max(NOW_MS * 1000, lastOfSiteUs + 1, seenUs + 1));
          expect(corrected).toBeGreaterThan(Math.max(lastOfSiteUs, seenUs));
        },
      ),
    );
  });
});
