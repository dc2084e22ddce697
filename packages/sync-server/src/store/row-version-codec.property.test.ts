import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRowVersions, encodeRowVersions, type RowVersions, type StoredVersion } from './row-version-codec.ts';

// A watermark belongs to one changeset, so it has one stamp and one site.
const version: fc.Arbitrary<StoredVersion> = fc
  .nat({ max: 8 })
  .map((watermark) => ({ watermark, stampUs: 2 ** 50 + watermark, siteNumber: watermark % 3 }));
const columnId = fc.integer({ min: 1, max: 0xffff_ffff });
const byColumn = fc.uniqueArray(fc.tuple(columnId, version), { selector: ([id]) => id }).map((cells) => new Map(cells));
const rowVersions: fc.Arbitrary<RowVersions> = fc.record(
  {
    bornAt: fc.maxSafeNat(),
    inserted: version,
    revived: fc.option(version),
    updated: fc.array(version, { maxLength: 3 }),
    deleted: fc.option(version),
    cells: byColumn,
    otherSites: byColumn,
  },
  { noNullPrototype: true },
);

describe('packed versions', () => {
  it('decode to what was encoded', () => {
    fc.assert(
      fc.property(
        rowVersions,
        (versions) => void expect(decodeRowVersions(encodeRowVersions(versions))).toEqual(versions),
      ),
    );
  });

  it('take less than 20 bytes for a row that was never changed', () => {
    const bytes = encodeRowVersions({
      bornAt: 100_000,
      inserted: { watermark: 100_000, stampUs: 1_800_000_000_000_000, siteNumber: 7 },
      revived: null,
      updated: [],
      deleted: null,
      cells: new Map(),
      otherSites: new Map(),
    });
    expect(bytes.length).toBeLessThan(20);
  });

  it('fail with a typed error if they are damaged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeRowVersions(bytes);
        } catch (error) {
          expect(error).toMatchObject({ code: 'storage-corrupt' });
        }
      }),
    );
  });
});
