import { messageToFrames, RockpoolError } from '@rockpool/shared';
import type { SessionSocket } from './session-socket.ts';

/** What a client may leave unread: some seconds of a slow phone, and little enough for a thousand of them. */
export const MAX_UNREAD_BYTES: number = 4 * 1024 * 1024;

/**
 * Sends messages as frames, as long as the client reads them. Throws `slow-consumer` when more than the limit would lie unread; a
 * delivery of any size may go when nothing does, so that a large catch-up gets through.
 */
export class SendQueue {
  private readonly socket: SessionSocket;

  constructor(socket: SessionSocket) {
    this.socket = socket;
  }

  send(messages: readonly Uint8Array[]): void {
    const unreadBytes = this.socket.unreadBytes();
    const sizeBytes = messages.reduce((sum, { length }) => sum + length, 0);
    if (unreadBytes > 0 && unreadBytes + sizeBytes > MAX_UNREAD_BYTES) {
      throw new RockpoolError('slow-consumer', { unreadBytes, limitBytes: MAX_UNREAD_BYTES });
    }
    for (const message of messages) for (const frame of messageToFrames(message)) this.socket.send(frame);
  }
}
