import { describe, expect, it } from 'vitest';
import { decodeHistoryPage, encodeHistoryPage, type HistoryPage } from './history-page.ts';

const page: HistoryPage = {
  versions: [
    {
      watermark: 9,
      kind: 'update',
      site: '0123456789abcdef0123456789abcdef',
      sequence: 3,
      principal: 'ann',
      writtenMs: 1_700_000_000_000,
      receivedMs: 1_700_000_000_001,
      changes: [
        { columnId: 7, values: { before: null, after: 'x' } },
        { columnId: 8, values: null },
      ],
    },
  ],
  nextBefore: 9,
  isTruncated: false,
  laterColumns: [{ columnId: 7, until: 5 }],
};

describe('a page of a history', () => {
  it('decodes to what was encoded', () => {
    expect(decodeHistoryPage(encodeHistoryPage(page, 2))).toEqual(page);
  });

  it('uses the first format, without later columns, unless the client asks for another', () => {
    const bytes = encodeHistoryPage(page, 1);
    expect(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')).toBe(FIRST_FORMAT);
    expect(decodeHistoryPage(bytes)).toEqual({ ...page, laterColumns: [] });
  });

  it('is refused if it is truncated or has an unknown format', () => {
    const bytes = encodeHistoryPage(page, 2);
    for (let length = 0; length < bytes.length; length++)
      expect(() => decodeHistoryPage(bytes.slice(0, length))).toThrow(
        expect.objectContaining({ code: 'frame-invalid' }),
      );
    expect(() => decodeHistoryPage(bytes.with(0, 3))).toThrow(expect.objectContaining({ code: 'frame-invalid' }));
  });
});

/** The bytes that clients from before the second format read. */
const FIRST_FORMAT =
  '0100090109010123456789abcdef0123456789abcdef0303616e6e80d095ffbc3181d095ffbc31020700000001000301780800000000';
