import { encodeMessage, encodePacked, MAX_PACKED_BYTES, messageToFrames, type ClientMessage } from '@rockpool/shared';

/** The minimum size of a push that is compressed. A smaller one fits into a packet or two, and is sent at once. */
const PACK_FROM_BYTES = 4 * 1024;

/** Sends messages as frames in order. Large pushes are compressed first, and later messages wait for them. */
export class OutgoingFrames {
  private readonly sendFrame: (frame: Uint8Array<ArrayBuffer>) => void;
  // Null: no compression is in progress.
  private packing: Promise<void> | null = null;

  /** `sendFrame` may be called after the connection has ended. */
  constructor(sendFrame: (frame: Uint8Array<ArrayBuffer>) => void) {
    this.sendFrame = sendFrame;
  }

  send(message: ClientMessage): void {
    const bytes = encodeMessage(message);
    const isPacked = message.type === 'push' && bytes.length >= PACK_FROM_BYTES && bytes.length <= MAX_PACKED_BYTES;
    if (this.packing === null && !isPacked) return this.sendBytes(bytes);
    const ready = isPacked ? packed(bytes) : Promise.resolve(bytes);
    const done = Promise.all([ready, this.packing]).then(([next]) => {
      this.sendBytes(next);
      if (this.packing === done) this.packing = null;
    });
    this.packing = done;
  }

  private sendBytes(bytes: Uint8Array): void {
    for (const frame of messageToFrames(bytes)) this.sendFrame(frame);
  }
}

/** Returns the bytes uncompressed if the platform cannot compress. */
async function packed(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    return encodePacked({
      sizeBytes: bytes.length,
      deflated: new Uint8Array(await new Response(stream).arrayBuffer()),
    });
  } catch {
    return bytes;
  }
}
