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
  private parts: Uint8Array[] = [];
  private sizeBytes = 0;
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
    const head = frame[0];
    const payload = frame.subarray(1);
    this.sizeBytes += payload.length;
    if (this.sizeBytes > this.maxMessageBytes) {
      throw new RockpoolError('frame-too-large', { sizeBytes: this.sizeBytes, limitBytes: this.maxMessageBytes });
    }
    if (head === WHOLE && this.parts.length === 0) {
      this.sizeBytes = 0;
      return payload;
    }
    if (head !== PART && (head !== LAST_PART || this.parts.length === 0))
      throw new RockpoolError('frame-invalid', { problem: 'a frame arrived out of order' });
    this.parts.push(payload.slice());
    if (head === PART) return null;
    const message = new Uint8Array(this.sizeBytes);
    let at = 0;
    for (const part of this.parts) {
      message.set(part, at);
      at += part.length;
    }
    this.parts = [];
    this.sizeBytes = 0;
    return message;
  }
}

function withHead(head: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(payload.length + 1);
  frame[0] = head;
  frame.set(payload, 1);
  return frame;
}
