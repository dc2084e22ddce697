import { messageToFrames, RockpoolError } from '@rockpool/shared';
import type { SessionSocket } from './session-socket.ts';

/**
 * Sends messages as frames. Throws `slow-consumer` if the client would have more unread bytes than the limit. With
 * nothing unread, messages of any size are sent, so that a large catch-up gets through.
 */
export class SendQueue {
  private readonly socket: SessionSocket;
  private readonly maxUnreadBytes: number;

  constructor(socket: SessionSocket, maxUnreadBytes: number) {
    this.socket = socket;
    this.maxUnreadBytes = maxUnreadBytes;
  }

  send(messages: readonly Uint8Array[]): void {
    const unreadBytes = this.socket.unreadBytes();
    const sizeBytes = messages.reduce((sum, { length }) => sum + length, 0);
    if (unreadBytes > 0 && unreadBytes + sizeBytes > this.maxUnreadBytes) {
      throw new RockpoolError('slow-consumer', { unreadBytes, limitBytes: this.maxUnreadBytes });
    }
    for (const message of messages) for (const frame of messageToFrames(message)) this.socket.send(frame);
  }
}
