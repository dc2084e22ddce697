import {
  decodeClientMessage,
  decodePacked,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  type ClientMessage,
  type Push,
} from '@rockpool/shared';
import { afterEach, expect, it, vi } from 'vitest';
import { OutgoingFrames } from './outgoing-frames.ts';

afterEach(() => void vi.unstubAllGlobals());

const push = (sequence: number, sizeBytes: number): Push => ({
  type: 'push',
  previousHash: new Uint8Array(16),
  olderEpochUpTo: 0,
  changesets: [
    { sequence, stampUs: sequence, ageUs: 0, base: 0, body: Uint8Array.from({ length: sizeBytes }, (_, i) => i % 50) },
  ],
});

/** A connection that joins frames and records the complete messages, packed or not. */
class Line {
  readonly arrived: Uint8Array[] = [];
  readonly outgoing: OutgoingFrames;
  sizeBytes = 0;

  constructor(onArrived: () => void = () => undefined) {
    const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
    this.outgoing = new OutgoingFrames((frame) => {
      this.sizeBytes += frame.length;
      const whole = assembler.add(frame);
      if (whole === null) return;
      this.arrived.push(whole);
      onArrived();
    });
  }

  async messages(count: number): Promise<ClientMessage[]> {
    while (this.arrived.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
    return Promise.all(this.arrived.map(async (bytes) => decodeClientMessage(await unpacked(bytes))));
  }
}

async function unpacked(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = decodePacked(bytes);
  if (packed === null) return bytes;
  const stream = new Blob([packed.deflated.slice()]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

it('small messages are sent unpacked at once, and large pushes packed, all in order', async () => {
  const there = new Line();
  const first: ClientMessage[] = [{ type: 'ping' }, push(1, 100)];
  for (const message of first) there.outgoing.send(message);
  expect(there.arrived).toHaveLength(2);
  const later: ClientMessage[] = [
    push(2, 200_000),
    push(3, 50_000),
    { type: 'ping' },
    push(4, 100),
    push(5, 5_000),
    { type: 'confirm', cursor: 1, lastAckedSequence: 1 },
  ];
  for (const message of later) there.outgoing.send(message);
  expect(await there.messages(8)).toStrictEqual([...first, ...later]);
  expect(there.sizeBytes).toBeLessThan(10_000);
  // No message is being packed, so this one is sent at once.
  there.outgoing.send({ type: 'ping' });
  expect(there.arrived).toHaveLength(9);
});

it('a message does not overtake a packed push that is still being sent', async () => {
  const there: Line = new Line(() => {
    if (there.arrived.length === 1) queueMicrotask(() => there.outgoing.send({ type: 'ping' }));
  });
  for (const message of [push(1, 5_000), push(2, 1_900_000)]) there.outgoing.send(message);
  const types = (await there.messages(3)).map(({ type }) => type);
  expect(types).toStrictEqual(['push', 'push', 'ping']);
});

it('messages are sent unpacked if they are too large, or if the platform cannot compress', async () => {
  const there = new Line();
  there.outgoing.send(push(1, 2 * 1024 * 1024));
  expect(there.arrived).toHaveLength(1);
  vi.stubGlobal('CompressionStream', undefined);
  there.outgoing.send(push(2, 50_000));
  expect(
    (await there.messages(2)).map((message) => message.type === 'push' && message.changesets[0]?.sequence),
  ).toStrictEqual([1, 2]);
  expect(there.sizeBytes).toBeGreaterThan(2 * 1024 * 1024 + 50_000);
});
