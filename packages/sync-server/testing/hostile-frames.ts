import { deflateRawSync } from 'node:zlib';
import {
  ByteWriter,
  encodeMessage,
  encodePacked,
  MAX_PACKED_BYTES,
  messageToFrames,
  type ClientMessage,
} from '@rockpool/shared';
import { clientMessage } from '@rockpool/shared/testing';
import fc from 'fast-check';

/** Malicious frames: each is cheap to send and makes a careless reader spend memory or time, or fail. */
export const CRAFTED_FRAMES: readonly Uint8Array[] = [
  new Uint8Array(0),
  Uint8Array.of(0),
  Uint8Array.of(1),
  Uint8Array.of(2),
  Uint8Array.of(9, 9, 9),
  // Counts and lengths beyond the end of the frame.
  Uint8Array.of(0, 2, ...new Uint8Array(16), 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f),
  Uint8Array.of(0, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x41),
  // Varints without an end, or with a value above the largest number.
  Uint8Array.of(0, 3, ...new Uint8Array(12).fill(0xff)),
  Uint8Array.of(0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0),
  Uint8Array.of(0, 5, 0),
  // Text that is not UTF-8; a message type of the server; an unknown message type.
  Uint8Array.of(0, 4, 2, 0xc3, 0x28),
  Uint8Array.of(0, 65),
  Uint8Array.of(0, 255),
  ...bodies().flatMap((body) =>
    messageToFrames(
      encodeMessage({
        type: 'push',
        previousHash: new Uint8Array(16),
        olderEpochUpTo: 0,
        changesets: [{ sequence: 1, stampUs: 1, ageUs: 0, base: 0, body }],
      }),
    ),
  ),
  // Compressed frames: a large expansion, more bytes than declared, invalid data, and nested compression.
  ...packed().flatMap((message) => messageToFrames(message)),
];

function packed(): Uint8Array[] {
  const ping = encodeMessage({ type: 'ping' });
  const pack = (message: Uint8Array, sizeBytes = message.length): Uint8Array =>
    encodePacked({ sizeBytes, deflated: deflateRawSync(message) });
  const zeros = new Uint8Array(32 * MAX_PACKED_BYTES);
  return [
    pack(ping),
    pack(pack(ping)),
    pack(zeros),
    pack(zeros, MAX_PACKED_BYTES),
    pack(zeros.slice(0, MAX_PACKED_BYTES)),
    pack(ping, 2),
    encodePacked({ sizeBytes: 9, deflated: ping }),
    Uint8Array.of(8),
    Uint8Array.of(8, 0),
  ];
}

function bodies(): Uint8Array[] {
  const group = (
    kind: number,
    rows: number,
    keyParts: number,
    columns: number,
    runs: readonly number[],
  ): Uint8Array => {
    const writer = new ByteWriter();
    for (const byte of [1, 0, 1, kind]) writer.u8(byte);
    writer.u32(7);
    for (const count of [rows, keyParts, columns]) writer.varint(count);
    for (let c = 0; c < columns && c < 8; c++) writer.u32(c + 1);
    writer.bytes(Uint8Array.from(runs));
    return writer.finish();
  };
  return [
    // A run of NULL takes one byte for any number of rows.
    group(1, 2 ** 31, 1, 1, [0, 0]),
    group(1, 2 ** 40, 1, 0, [0]),
    group(3, 8 * 1024 * 1024 + 1, 1, 0, [0]),
    group(1, 1, 2 ** 30, 2 ** 30, []),
    group(9, 1, 1, 1, [0, 0]),
    Uint8Array.of(200),
    new Uint8Array(0),
    Uint8Array.of(1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f),
  ];
}

/**
 * Frames of one connection: crafted ones, valid ones, valid ones that are damaged, truncated or repeated, and noise.
 */
export const hostileFrames: fc.Arbitrary<Uint8Array[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...CRAFTED_FRAMES) },
    { weight: 2, arbitrary: clientMessage.map(framed) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(clientMessage.map(framed), fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(3))
        .map(([frame, at, flip, how]) => damaged(frame, at, flip, how)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  ),
  { minLength: 1, maxLength: 12 },
);

function framed(message: ClientMessage): Uint8Array {
  return messageToFrames(encodeMessage(message))[0] as Uint8Array;
}

function damaged(frame: Uint8Array, at: number, flip: number, how: number): Uint8Array {
  const place = at % frame.length;
  switch (how) {
    case 0:
      return frame.slice(0, place);
    case 1:
      return Uint8Array.from([...frame.slice(0, place), ...frame]);
    default:
      return frame.map((byte, i) => (i === place ? byte ^ flip : byte));
  }
}
