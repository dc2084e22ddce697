import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { clientMessage, serverMessage } from '../../testing/arbitraries.ts';
import { FrameAssembler, messageToFrames } from './frame-codec.ts';
import { MAX_FRAME_BYTES, MAX_MESSAGE_BYTES } from './limits.ts';
import {
  decodeClientMessage,
  decodeServerMessage,
  encodeDelivery,
  encodeDeliveryGroups,
  encodeMessage,
} from './message-codec.ts';

describe('messages', () => {
  it('decode as a client encoded them', () => {
    fc.assert(
      fc.property(
        clientMessage,
        (message) => void expect(decodeClientMessage(encodeMessage(message))).toStrictEqual(message),
      ),
      { numRuns: atLevel({ test: 120, verify: 300 }) },
    );
  });

  it('decode as a server encoded them', () => {
    fc.assert(
      fc.property(
        serverMessage,
        (message) => void expect(decodeServerMessage(encodeMessage(message))).toStrictEqual(message),
      ),
      { numRuns: atLevel({ test: 120, verify: 300 }) },
    );
  });

  it('are the same bytes if the groups of a delivery are encoded separately', () => {
    fc.assert(
      fc.property(serverMessage, (message) => {
        if (message.type !== 'delivery') return;
        expect(encodeDelivery(message, encodeDeliveryGroups(message.groups))).toStrictEqual(encodeMessage(message));
      }),
    );
  });

  it('are rejected if the wrong side sends them', () => {
    fc.assert(
      fc.property(clientMessage, serverMessage, (fromClient, fromServer) => {
        expect(() => decodeServerMessage(encodeMessage(fromClient))).toThrow('the message has an unknown type');
        expect(() => decodeClientMessage(encodeMessage(fromServer))).toThrow('the message has an unknown type');
      }),
    );
  });

  it('fail with a typed error if they are noise, damaged or truncated', () => {
    const typed = (decode: () => unknown): void => {
      try {
        decode();
      } catch (error) {
        expect(error).toBeInstanceOf(RockpoolError);
        expect((error as RockpoolError).code).toMatch(/^((frame|key)-invalid|protocol-version)$/);
      }
    };
    fc.assert(
      fc.property(
        fc.oneof(clientMessage, serverMessage),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        fc.uint8Array(),
        (message, at, flip, noise) => {
          const bytes = encodeMessage(message);
          const place = at % bytes.length;
          bytes[place] = (bytes[place] as number) ^ flip;
          for (const damaged of [bytes, bytes.subarray(0, place), noise]) {
            typed(() => decodeClientMessage(damaged));
            typed(() => decodeServerMessage(damaged));
          }
        },
      ),
      { numRuns: atLevel({ test: 800, verify: 2_000 }) },
    );
  });
});

describe('frames', () => {
  it('carry a message of any size, one after another', () => {
    const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
    for (const size of [0, 1, MAX_FRAME_BYTES - 1, MAX_FRAME_BYTES, 3 * MAX_FRAME_BYTES + 5]) {
      const message = Uint8Array.from({ length: size }, (_, i) => i % 251);
      const frames = messageToFrames(message);
      for (const frame of frames) expect(frame.length).toBeLessThanOrEqual(MAX_FRAME_BYTES);
      const results = frames.map((frame) => assembler.add(frame));
      expect(results.slice(0, -1).every((result) => result === null)).toBe(true);
      const whole = results.at(-1) as Uint8Array;
      expect(whole.length).toBe(size);
      expect(whole.every((byte, i) => byte === i % 251)).toBe(true);
    }
  });

  it('are rejected if they exceed the limit or are out of order', () => {
    expect(() => new FrameAssembler(10).add(new Uint8Array(12))).toThrow(
      expect.objectContaining({ code: 'frame-too-large' }),
    );
    expect(() => new FrameAssembler(MAX_MESSAGE_BYTES).add(new Uint8Array(MAX_FRAME_BYTES + 1))).toThrow(
      expect.objectContaining({ code: 'frame-too-large' }),
    );
    for (const frame of [[], [2, 1], [9, 1]]) {
      expect(() => new FrameAssembler(100).add(Uint8Array.from(frame))).toThrow(
        expect.objectContaining({ code: 'frame-invalid' }),
      );
    }
    const assembler = new FrameAssembler(100);
    assembler.add(Uint8Array.from([1, 5]));
    expect(() => assembler.add(Uint8Array.from([0, 5]))).toThrow(expect.objectContaining({ code: 'frame-invalid' }));
  });
});
