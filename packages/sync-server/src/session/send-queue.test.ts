import { DELIVERY_PART_BYTES, FrameAssembler, MAX_MESSAGE_BYTES } from '@rockpool/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { SendQueue } from './send-queue.ts';
import type { SessionSocket } from './session-socket.ts';

const LIMIT_BYTES = 1_000;
const SILENCE_MS = 40_000;
const MIB = 1024 * 1024;

const tooSlow: unknown = expect.objectContaining({
  code: 'slow-consumer',
  fields: expect.objectContaining({ limitBytes: LIMIT_BYTES }) as unknown,
});

/** The sizes of the messages that the socket has received, and a client that reads when `read` is called. */
let received: number[];
let unreadBytes: number;
let onDrained: (() => void) | null;
let nowMs: number;
let queue: SendQueue;
beforeEach(() => {
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  [received, unreadBytes, onDrained, nowMs] = [[], 0, null, 1];
  const socket: SessionSocket = {
    send: (frame) => {
      unreadBytes += frame.length;
      const message = assembler.add(frame);
      if (message !== null) received.push(message.length);
    },
    unreadBytes: () => unreadBytes,
    whenDrained: (callback) => void (onDrained = callback),
    pause: () => undefined,
    resume: () => undefined,
    close: () => undefined,
    terminate: () => undefined,
  };
  queue = new SendQueue(socket, { maxUnreadBytes: LIMIT_BYTES, silenceLimitMs: SILENCE_MS }, () => nowMs);
});

/** Reads what the socket has. */
function read(): void {
  unreadBytes = 0;
  const callback = onDrained;
  onDrained = null;
  callback?.();
}

const send = (...sizes: number[]): void => queue.send(sizes.map((size) => new Uint8Array(size)));

describe('the send queue', () => {
  it('sends a delivery above the limit while the welcome is unread', () => {
    send(60);
    send(50_000, 50_000);
    expect(received).toEqual([60, 50_000, 50_000]);
  });

  it('throws slow-consumer as soon as more than the limit is unread behind a batch that exceeded it', () => {
    send(900);
    send(5_000);
    send(600);
    send(400);
    expect(() => send(1)).toThrow(tooSlow as Error);
    expect(received).toEqual([900, 5_000, 600, 400]);
  });

  it('throws slow-consumer for a second batch above the limit behind the first', () => {
    send(50_000);
    expect(() => send(50_000)).toThrow(tooSlow as Error);
  });

  it('counts as before once the batch is read', () => {
    send(5_000);
    send(900);
    unreadBytes = 900;
    send(5_000);
    send(LIMIT_BYTES);
    expect(() => send(1)).toThrow(tooSlow as Error);
    read();
    send(1);
  });

  it('gives the socket a part at a time, in order, and counts what waits as unread', () => {
    const parts = Array.from({ length: 8 }, (_, part) => DELIVERY_PART_BYTES + part);
    send(...parts);
    send(10);
    expect(received).toEqual(parts.slice(0, 1));
    expect(queue.unreadBytes).toBeGreaterThanOrEqual(8 * DELIVERY_PART_BYTES);
    read();
    expect(received).toEqual(parts.slice(0, 2));
    for (let part = 2; part <= parts.length; part++) read();
    expect(received).toEqual([...parts, 10]);
    expect(queue.unreadBytes).toBe(11);
  });

  it('gives a full socket nothing more until it has no unread bytes left', () => {
    const most = DELIVERY_PART_BYTES - 100;
    send(most, most, most);
    expect(received).toEqual([most, most]);
    unreadBytes = most;
    send(10);
    expect(received).toEqual([most, most]);
    read();
    expect(received).toEqual([most, most, most, 10]);
  });

  it('accepts another large batch while less than the limit of the first is unread', () => {
    send(5_000);
    unreadBytes = 100;
    send(5_000);
    expect(received).toEqual([5_000, 5_000]);
  });

  it('sends nothing that waits after clear', () => {
    send(MIB, MIB);
    queue.clear();
    read();
    expect(received).toEqual([MIB]);
    expect(queue.unreadBytes).toBe(0);
  });
});

describe('a large batch', () => {
  it('leads to slow-consumer if the network takes nothing for one silence limit per part in the socket', () => {
    send(2 * DELIVERY_PART_BYTES, DELIVERY_PART_BYTES);
    nowMs += 2 * SILENCE_MS;
    queue.requireProgress(nowMs);
    nowMs += 100;
    expect(() => queue.requireProgress(nowMs)).toThrow(tooSlow as Error);
  });

  it('may take any time if the network takes a part within each limit', () => {
    send(...Array.from({ length: 20 }, () => DELIVERY_PART_BYTES));
    for (let part = 0; part < 20; part++) {
      nowMs += SILENCE_MS;
      queue.requireProgress(nowMs);
      read();
    }
    expect(queue.drainedMs).toBe(nowMs);
    nowMs += 10 * SILENCE_MS;
    queue.requireProgress(nowMs);
    expect(queue.unreadBytes).toBe(0);
  });
});
