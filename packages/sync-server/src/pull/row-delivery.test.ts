import { EXISTENCE_COLUMN_ID } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { RowVersions, StoredVersion } from '../store/row-version-codec.ts';
import { rowDelivery, type Reader, type RowDelivery } from './row-delivery.ts';

const NOTE = 5;
const AMOUNT = 6;
const ME = 1;
const OTHER = 2;

const by = (siteNumber: number, watermark: number): StoredVersion => ({ siteNumber, watermark, stampUs: watermark });

function row(parts: Partial<RowVersions> & { inserted: StoredVersion }): RowVersions {
  return {
    bornAt: parts.inserted.watermark,
    revived: null,
    updated: [],
    deleted: null,
    cells: new Map(),
    otherSites: new Map(),
    ...parts,
  };
}

/** A reader that has applied watermark 10, and the outcomes of its own changesets up to watermark 8. */
const me: Reader = { siteNumber: ME, from: 10, ownFrom: 8 };
const stranger: Reader = { siteNumber: null, from: 10, ownFrom: 0 };

function told(versions: RowVersions | undefined, reader: Reader = me, corrected: readonly number[] = []): RowDelivery {
  return rowDelivery(versions, [NOTE, AMOUNT], reader, corrected);
}

describe('a row in a delivery', () => {
  it('is left out if none of its versions is above the cursor', () => {
    expect(told(row({ inserted: by(OTHER, 10), cells: new Map([[NOTE, by(OTHER, 10)]]) }))).toBeNull();
  });

  it('is sent whole if it is new or was brought back', () => {
    expect(told(row({ inserted: by(OTHER, 11) }))).toEqual({ kind: 'insert' });
    expect(told(row({ inserted: by(OTHER, 3), revived: by(OTHER, 11) }))).toEqual({ kind: 'insert' });
  });

  it('is sent as its changed cells if the reader has the row', () => {
    const cells = new Map([
      [NOTE, by(OTHER, 11)],
      [AMOUNT, by(OTHER, 9)],
    ]);
    expect(told(row({ inserted: by(OTHER, 3), cells }))).toEqual({ kind: 'update', columnIds: [NOTE] });
  });

  it('is left out if the reader wrote its current value', () => {
    expect(told(row({ inserted: by(ME, 11) }))).toBeNull();
    expect(told(row({ inserted: by(OTHER, 3), cells: new Map([[NOTE, by(ME, 11)]]) }))).toBeNull();
    expect(told(row({ inserted: by(OTHER, 3), deleted: by(ME, 11) }))).toBeNull();
    const cells = new Map([
      [NOTE, by(ME, 11)],
      [AMOUNT, by(OTHER, 12)],
    ]);
    expect(told(row({ inserted: by(ME, 11), cells }))).toEqual({ kind: 'update', columnIds: [AMOUNT] });
  });

  it('is sent to its author if the author starts over', () => {
    const startsOver: Reader = { siteNumber: ME, from: 0, ownFrom: 8 };
    expect(told(row({ inserted: by(ME, 7) }), startsOver)).toEqual({ kind: 'insert' });
    expect(told(row({ inserted: by(ME, 9) }), startsOver)).toBeNull(); // its outcome has not been sent yet
  });

  it('is sent if its author has to be corrected, however old its versions are', () => {
    const old = row({ inserted: by(OTHER, 1), cells: new Map([[NOTE, by(OTHER, 2)]]) });
    expect(told(old, me, [NOTE])).toEqual({ kind: 'update', columnIds: [NOTE] });
    expect(told(old, me, [EXISTENCE_COLUMN_ID, NOTE])).toEqual({ kind: 'insert' });
    expect(told({ ...old, deleted: by(OTHER, 3) }, me, [NOTE])).toEqual({ kind: 'delete' });
    expect(told(undefined, me, [EXISTENCE_COLUMN_ID])).toEqual({ kind: 'delete' });
    expect(told(undefined, me, [NOTE])).toBeNull();
  });

  it('is sent as a delete to readers that may have it, if it is deleted', () => {
    const seen = row({ inserted: by(OTHER, 9), deleted: by(OTHER, 11) });
    expect(told(seen)).toEqual({ kind: 'delete' });
    expect(told(seen, stranger)).toEqual({ kind: 'delete' });
    // Inserted above the cursor: only a reader that has written can have the row, by its own insert.
    const unseen = row({ inserted: by(OTHER, 11), deleted: by(OTHER, 12) });
    expect(told(unseen)).toEqual({ kind: 'delete' });
    expect(told(unseen, stranger)).toBeNull();
  });
});
