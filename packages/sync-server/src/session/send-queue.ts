import { messageToFrames, RockpoolError } from '@rockpool/shared';
import type { SessionSocket } from './session-socket.ts';

/**
 * Sends messages as frames. Throws `slow-consumer` if the client has more unread bytes than the limit. Up to the limit,
 * messages of any size are sent, so that a large catch-up is sent even though the welcome before it is often still
 * unread.
 */
export class SendQueue {
  private readonly socket: SessionSocket;
  private readonly maxUnreadBytes: number;

  constructor(socket: SessionSocket, maxUnreadBytes: number) {
    this.socket = socket;
    this.maxUnreadBytes = maxUnreadBytes;
  }

  get unreadBytes(): number {
    return this.socket.unreadBytes();
  }

  send(messages: readonly Uint8Array[]): void {
    const { unreadBytes } = this;
    if (unreadBytes > this.maxUnreadBytes)
      throw new RockpoolError('slow-consumer', { unreadBytes, limitBytes: this.maxUnreadBytes });
    for (const message of messages) for (const frame of framesOf(message)) this.socket.send(frame);
  }
}

/** Many sessions send the same message, and share its frames. */
const knownFrames = new WeakMap<Uint8Array, readonly Uint8Array[]>();

function framesOf(message: Uint8Array): readonly Uint8Array[] {
  let frames = knownFrames.get(message);
  if (frames === undefined) {
    frames = messageToFrames(message);
    knownFrames.set(message, frames);
  }
  return frames;
}
