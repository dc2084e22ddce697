import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeClientMessage, decodeServerMessage, FrameAssembler, MAX_MESSAGE_BYTES, PROTOCOL_FLOOR, PROTOCOL_VERSION } from '../../packages/shared/src/index.ts';
import { fromHex, toRecordable, type RecordedFrame } from './frames.ts';

const folder = new URL('.', import.meta.url);
const versions = readdirSync(folder).flatMap((name) => /^protocol-(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);

describe('recorded frames', () => {
  it('are there for every version from the floor on', () => {
    for (let version = PROTOCOL_FLOOR; version <= PROTOCOL_VERSION; version++) expect(versions).toContain(version);
  });

  it.each(versions.filter((version) => version >= PROTOCOL_FLOOR))('of protocol version %i still say what they said', (version) => {
    const recorded = JSON.parse(readFileSync(new URL(`protocol-${version}.json`, folder), 'utf8')) as RecordedFrame[];
    expect(new Set(recorded.map(({ frame }) => frame.slice(2, 4))).size).toBe(14);
    for (const { side, frame, message } of recorded) {
      const whole = new FrameAssembler(MAX_MESSAGE_BYTES).add(fromHex(frame));
      expect(whole).not.toBeNull();
      const decoded = side === 'client' ? decodeClientMessage(whole as Uint8Array) : decodeServerMessage(whole as Uint8Array);
      expect(toRecordable(decoded)).toEqual(message);
    }
  });
});
