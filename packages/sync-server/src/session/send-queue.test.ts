import { FrameAssembler, MAX_MESSAGE_BYTES } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { SendQueue } from './send-queue.ts';
import type { SessionSocket } from './session-socket.ts';

const LIMIT_BYTES = 1_000;

/** A socket of a client that reads nothing. */
function unreadSocket(): SessionSocket & { readonly received: Uint8Array[] } {
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  const received: Uint8Array[] = [];
  let unreadBytes = 0;
  return {
    received,
    send: (frame) => {
      unreadBytes += frame.length;
      const message = assembler.add(frame);
      if (message !== null) received.push(message);
    },
    unreadBytes: () => unreadBytes,
    pause: () => undefined,
    resume: () => undefined,
    close: () => undefined,
    terminate: () => undefined,
  };
}

it('the send queue sends a delivery above the limit while the welcome is unread', () => {
  const socket = unreadSocket();
  const queue = new SendQueue(socket, LIMIT_BYTES);
  queue.send([new Uint8Array(60)]);
  queue.send([new Uint8Array(50_000), new Uint8Array(50_000)]);
  expect(socket.received.map(({ length }) => length)).toEqual([60, 50_000, 50_000]);
});

it('the send queue throws slow-consumer as soon as more than the limit is unread', () => {
  const socket = unreadSocket();
  const queue = new SendQueue(socket, LIMIT_BYTES);
  queue.send([new Uint8Array(LIMIT_BYTES + 1)]);
  expect(() => queue.send([new Uint8Array(1)])).toThrow(
    expect.objectContaining({ code: 'slow-consumer', fields: expect.objectContaining({ limitBytes: LIMIT_BYTES }) }),
  );
});
