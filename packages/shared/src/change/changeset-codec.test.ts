import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { MAX_CHANGESET_CELLS, MAX_CHANGESET_ROWS } from '../protocol/limits.ts';
import { decodeChangesetBody, encodeChangesetBody, writeGroups } from './changeset-codec.ts';
import type { ChangeGroup } from './changeset.ts';
import { changesetHash, FIRST_PREVIOUS_HASH } from './changeset-hash.ts';

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

describe('changeset bytes', () => {
  const body = encodeChangesetBody({
    atomic: false,
    groups: [
      {
        tableId: 0x01020304,
        kind: 'insert',
        rowCount: 2,
        keys: [['a', 'b']],
        columnIds: [9, 10],
        values: [
          [1n, null],
          [0.5, 'x'],
        ],
      },
      { tableId: 0x01020304, kind: 'delete', rowCount: 1, keys: [['c']], columnIds: [], values: [] },
    ],
    cellBases: [{ tableId: 0x01020304, key: ['a'], columnId: 9, base: 300 }],
  });

  // Stored changelogs and other versions depend on these bytes: a change here needs a new codec version.
  it('never change in codec version 1', () => {
    expect(hex(body)).toMatchInlineSnapshot(
      `"0100020104030201020102090000000a00000003010161628102020502000000000000e03f030178030403020101010003016301040302010303016109000000ac02"`,
    );
  });

  it('cannot make a reader allocate more memory than a changeset may use, even with runs of NULL, which take few bytes', () => {
    const rows = 50_000;
    const columns = 10_000;
    const bomb = new ByteWriter();
    for (const byte of [1, 0, 1, 1]) bomb.u8(byte); // version, not atomic, one group, insert
    bomb.u32(7);
    for (const count of [rows, 1, columns]) bomb.varint(count);
    for (let id = 1; id <= columns; id++) bomb.u32(id);
    bomb.u8(1); // the key: integers
    for (let row = 0; row < rows; row++) bomb.int64(0n);
    for (let column = 0; column < columns; column++) bomb.u8(0); // NULL throughout
    bomb.varint(0);
    expect(bomb.byteLength).toBeLessThan(101_000);
    expect(() => decodeChangesetBody(bomb.finish())).toThrow(expect.objectContaining({ code: 'changeset-too-large' }));
  });

  it.each([
    ['rows', 1, MAX_CHANGESET_ROWS],
    ['cells', 15, MAX_CHANGESET_CELLS / 16],
  ])('cannot be encoded or decoded with more %s than a changeset may have', (_, columns, mostRows) => {
    const columnIds = Array.from({ length: columns }, (_column, index) => index + 1);
    const groupOf = (rowCount: number): ChangeGroup => ({
      tableId: 7,
      kind: 'update',
      rowCount,
      keys: [new Array<string>(rowCount).fill('')],
      columnIds,
      values: columnIds.map(() => new Array<null>(rowCount).fill(null)),
    });
    const bodyOf = (...counts: number[]): Uint8Array =>
      encodeChangesetBody({ atomic: false, groups: counts.map(groupOf), cellBases: [] });
    const most = bodyOf(mostRows - 1, 1);
    expect(decodeChangesetBody(most).groups.map(({ rowCount }) => rowCount)).toEqual([mostRows - 1, 1]);
    const tooLarge = expect.objectContaining({
      code: 'changeset-too-large',
      fields: { limitRows: MAX_CHANGESET_ROWS, limitCells: MAX_CHANGESET_CELLS },
    }) as Error;
    expect(() => bodyOf(mostRows, 1)).toThrow(tooLarge);
    // Writes the last group once more without the encoder, which would reject it.
    const larger = new ByteWriter();
    for (const byte of [1, 0]) larger.u8(byte); // version, not atomic
    writeGroups(larger, [groupOf(mostRows - 1), groupOf(1), groupOf(1)]);
    larger.varint(0);
    expect(() => decodeChangesetBody(larger.finish())).toThrow(tooLarge);
  });

  it('are hashed into a chain that covers sequence, stamp, base, body and predecessor', () => {
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
