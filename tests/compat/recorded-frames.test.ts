import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  decodeClientMessage,
  decodeServerMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  PROTOCOL_FLOOR,
  PROTOCOL_VERSION,
  type ClientMessage,
  type ServerMessage,
} from '#shared/index.ts';
import { fromHex, toRecordable, type RecordedFrame } from './frames.ts';

const folder = new URL('.', import.meta.url);
const versions = readdirSync(folder)
  .flatMap((name) => /^protocol-(\d+)\.json$/.exec(name)?.[1] ?? [])
  .map(Number);

describe('recorded frames', () => {
  it('exist for the oldest supported version and every later one', () => {
    for (let version = PROTOCOL_FLOOR; version <= PROTOCOL_VERSION; version++) expect(versions).toContain(version);
  });

  it.each(versions.filter((version) => version >= PROTOCOL_FLOOR))(
    'of protocol version %i still decode to the same messages',
    (version) => {
      const recorded = framesOf(version);
      expect(new Set(recorded.map(({ frame }) => frame.slice(2, 4))).size).toBe(Math.max(14, version + 12));
      for (const { side, frame, message } of recorded) expect(toRecordable(decode(side, frame))).toEqual(message);
    },
  );

  // A session starts with a hello, so no other message of these versions reaches a server.
  it.each(versions.filter((version) => version < PROTOCOL_FLOOR))(
    'of protocol version %i are rejected at the start of a session, and the error names the version',
    (version) => {
      const greetings = framesOf(version).filter(({ message }) =>
        ['hello', 'welcome'].includes((message as { readonly type: string }).type),
      );
      expect(greetings).toHaveLength(3);
      for (const { side, frame } of greetings) {
        expect(() => decode(side, frame)).toThrow(
          expect.objectContaining({
            code: 'protocol-version',
            fields: { received: version, floor: PROTOCOL_FLOOR, newest: PROTOCOL_VERSION },
          }),
        );
      }
    },
  );
});

function framesOf(version: number): RecordedFrame[] {
  return JSON.parse(readFileSync(new URL(`protocol-${version}.json`, folder), 'utf8')) as RecordedFrame[];
}

function decode(side: RecordedFrame['side'], frame: string): ClientMessage | ServerMessage {
  const whole = new FrameAssembler(MAX_MESSAGE_BYTES).add(fromHex(frame)) as Uint8Array;
  return side === 'client' ? decodeClientMessage(whole) : decodeServerMessage(whole);
}
