import { describe, expect, it } from 'vitest';
import { encodeChangesetBody } from './changeset-codec.ts';
import { changesetHash, FIRST_PREVIOUS_HASH } from './changeset-hash.ts';

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

describe('changeset bytes', () => {
  const body = encodeChangesetBody({
    atomic: false,
    groups: [
      { tableId: 0x01020304, kind: 'insert', rowCount: 2, keys: [['a', 'b']], columnIds: [9, 10], values: [[1n, null], [0.5, 'x']] },
      { tableId: 0x01020304, kind: 'delete', rowCount: 1, keys: [['c']], columnIds: [], values: [] },
    ],
    hiddenBases: [{ tableId: 0x01020304, key: ['a'], columnId: 9, base: 300 }],
  });

  // Stored changelogs and other versions depend on these bytes: a change here needs a new codec version.
  it('are these, for ever, in codec version 1', () => {
    expect(hex(body)).toMatchInlineSnapshot(`"0100020104030201020102090000000a00000003010161628102020502000000000000e03f030178030403020101010003016301040302010303016109000000ac02"`);
  });

  it('hash into a chain: number, stamp, base, body and predecessor all count', () => {
    const first = { sequence: 1, stampUs: 1_700_000_000_000_000, base: 3, body };
    const hash = changesetHash(FIRST_PREVIOUS_HASH, first);
    expect(hex(hash)).toMatchInlineSnapshot(`"be2dffe60d9d98441d4be6eb5ca7ba89"`);
    const others = [
      changesetHash(hash, first),
      changesetHash(FIRST_PREVIOUS_HASH, { ...first, sequence: 2 }),
      changesetHash(FIRST_PREVIOUS_HASH, { ...first, stampUs: first.stampUs + 1 }),
      changesetHash(FIRST_PREVIOUS_HASH, { ...first, base: 4 }),
      changesetHash(FIRST_PREVIOUS_HASH, { ...first, body: body.subarray(1) }),
    ].map(hex);
    expect(new Set([...others, hex(hash)]).size).toBe(6);
  });
});
