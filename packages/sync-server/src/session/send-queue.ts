import { DELIVERY_PART_BYTES, messageToFrames, RockpoolError } from '@rockpool/shared';
import type { SessionLimits } from './limits.ts';
import type { SessionSocket } from './session-socket.ts';

/**
 * A socket receives further messages while less than this is unread, so that its progress shows: a socket reports only
 * that it has no unread bytes left.
 */
const AHEAD_BYTES = DELIVERY_PART_BYTES;

/** `silenceLimitMs`: how long the network may take for a part of a delivery. */
export type SendQueueLimits = Pick<SessionLimits, 'maxUnreadBytes' | 'silenceLimitMs'>;

/**
 * Sends messages as frames. Throws `slow-consumer` if the client has more unread bytes than the limit.
 *
 *   ── new messages: up to the limit ── the large batch, of any size ── up to the limit ──► client
 *
 * Messages of any size are sent together while less than the limit is unread, so that a large catch-up is sent even
 * though the welcome before it is often still unread. A batch that exceeds the limit is not counted until less than the
 * limit is unread again: a client with a slow link would otherwise be cut by the next message, and start its catch-up
 * over. Such a client must read (`requireProgress`).
 */
export class SendQueue {
  /** When the network last took everything that the socket had. */
  drainedMs = 0;
  private readonly socket: SessionSocket;
  private readonly limits: SendQueueLimits;
  private readonly now: () => number;
  // Empty for most sessions, because messages that the socket can take pass it by.
  private readonly waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  // When the socket received as much as it may hold at once. Null while it can take more.
  private waitingSinceMs: number | null = null;
  // The bytes behind the large batch. Null if there is none.
  private laterBytes: number | null = null;

  constructor(socket: SessionSocket, limits: SendQueueLimits, now: () => number) {
    this.socket = socket;
    this.limits = limits;
    this.now = now;
  }

  get unreadBytes(): number {
    return this.socket.unreadBytes() + this.waitingBytes;
  }

  send(messages: readonly Uint8Array[]): void {
    const { maxUnreadBytes } = this.limits;
    const { unreadBytes } = this;
    const sizeBytes = messages.reduce((sum, { length }) => sum + length, 0);
    if (unreadBytes <= maxUnreadBytes) this.laterBytes = null;
    if (this.laterBytes === null ? unreadBytes > maxUnreadBytes : this.laterBytes + sizeBytes > maxUnreadBytes)
      throw this.tooSlow();
    if (this.laterBytes !== null) this.laterBytes += sizeBytes;
    else if (unreadBytes + sizeBytes > maxUnreadBytes) this.laterBytes = 0;
    const taken = this.waiting.length === 0 ? this.pass(messages) : 0;
    for (const message of messages.slice(taken)) {
      this.waiting.push(message);
      this.waitingBytes += message.length;
    }
  }

  /**
   * Throws `slow-consumer` if more than the limit is unread and the network takes less than a part of a delivery in the
   * time after which a connection counts as silent.
   */
  requireProgress(nowMs: number): void {
    if (this.waitingSinceMs === null || this.unreadBytes <= this.limits.maxUnreadBytes) return;
    const parts = Math.max(1, this.socket.unreadBytes() / DELIVERY_PART_BYTES);
    if (nowMs - this.waitingSinceMs >= parts * this.limits.silenceLimitMs) throw this.tooSlow();
  }

  /** Drops the messages that the socket has not received. */
  clear(): void {
    this.waiting.length = 0;
    this.waitingBytes = 0;
  }

  /** Sends messages until the socket has enough to send. Returns their number. */
  private pass(messages: readonly Uint8Array[]): number {
    // The only sign of progress is that the socket has no unread bytes left. Further messages would delay it.
    if (this.waitingSinceMs !== null) return 0;
    let count = 0;
    for (; this.socket.unreadBytes() < AHEAD_BYTES; count++) {
      const message = messages[count];
      if (message === undefined) return count;
      for (const frame of framesOf(message)) this.socket.send(frame);
    }
    this.waitingSinceMs = this.now();
    this.socket.whenDrained(() => this.drained());
    return count;
  }

  private drained(): void {
    this.waitingSinceMs = null;
    this.drainedMs = this.now();
    for (const { length } of this.waiting.splice(0, this.pass(this.waiting))) this.waitingBytes -= length;
  }

  private tooSlow(): RockpoolError {
    const { unreadBytes } = this;
    return new RockpoolError('slow-consumer', { unreadBytes, limitBytes: this.limits.maxUnreadBytes });
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
