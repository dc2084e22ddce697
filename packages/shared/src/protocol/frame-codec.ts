import { ByteWriter } from '../bytes/byte-writer.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { MAX_FRAME_BYTES } from './limits.ts';

/*
 * A small message is one frame, a larger one several:
 *     u8 0 = the whole message, 1 = a part and more follows, 2 = the last part;  then bytes.
 * Parts of different messages never mix: a sender finishes one message before the next.
 */
const WHOLE = 0;
const PART = 1;
const LAST_PART = 2;

export function messageToFrames(message: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const room = MAX_FRAME_BYTES - 1;
  if (message.length <= room) return [withHead(WHOLE, message)];
  const frames: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; start < message.length; start += room) {
    const end = Math.min(start + room, message.length);
    frames.push(withHead(end === message.length ? LAST_PART : PART, message.subarray(start, end)));
  }
  return frames;
}

/** Reassembles messages. Throws `frame-invalid` or `frame-too-large`; the connection cannot be used afterwards. */
export class FrameAssembler {
  // The parts of an unfinished message, in one buffer: as objects of their own, parts of one byte would take a hundred
  // times their size.
  private parts: ByteWriter | null = null;
  private maxMessageBytes: number;

  constructor(maxMessageBytes: number) {
    this.maxMessageBytes = maxMessageBytes;
  }

  /** Raises the limit once the session is authenticated. */
  setMaxMessageBytes(maxMessageBytes: number): void {
    this.maxMessageBytes = maxMessageBytes;
  }

  /** Returns the message that this frame completes; null if it completes none. */
  add(frame: Uint8Array): Uint8Array | null {
    if (frame.length > MAX_FRAME_BYTES)
      throw new RockpoolError('frame-too-large', { sizeBytes: frame.length, limitBytes: MAX_FRAME_BYTES });
    const { parts } = this;
    const head = frame[0];
    const payload = frame.subarray(1);
    const sizeBytes = payload.length + (parts?.byteLength ?? 0);
    if (sizeBytes > this.maxMessageBytes)
      throw new RockpoolError('frame-too-large', { sizeBytes, limitBytes: this.maxMessageBytes });
    if (head === WHOLE && parts === null) return payload;
    if (head !== PART && (head !== LAST_PART || parts === null))
      throw new RockpoolError('frame-invalid', { problem: 'a frame arrived out of order' });
    const message = parts ?? new ByteWriter();
    message.bytes(payload);
    this.parts = head === PART ? message : null;
    return head === PART ? null : message.finish();
  }
}

function withHead(head: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(payload.length + 1);
  frame[0] = head;
  frame.set(payload, 1);
  return frame;
}
