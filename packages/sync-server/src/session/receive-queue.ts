import { MAX_MESSAGE_BYTES, RockpoolError, type ClientMessage } from '@rockpool/shared';

/** The maximum total size of the pushes of one session that wait for their commit. Above it, the socket is not read. */
const MAX_WAITING_PUSH_BYTES = 8 * 1024 * 1024;

/**
 * The maximum total size of the pushes and held messages of one session on a connection that cannot be paused: its next
 * message ends the session. A client waits for outcomes before it sends a further megabyte, so it has at most that and
 * one changeset of the maximum size in flight.
 */
const MAX_UNPAUSED_BYTES = MAX_WAITING_PUSH_BYTES + MAX_MESSAGE_BYTES;

/** The same before the token is known to be valid. A client waits for the welcome before it sends anything else. */
const MAX_ANONYMOUS_BYTES = 256 * 1024;

/**
 * The maximum number of messages that wait while an earlier one is handled: as many as fit into one read of the socket.
 */
const MAX_HELD_MESSAGES = 1_000;

/**
 * What a changeset takes in memory besides its body. Without it, a compressed push of 300 bytes, which may have 65,536
 * changesets with empty bodies, would count as nothing.
 */
const CHANGESET_BYTES = 512;

export interface ReceivedMessage {
  readonly message: ClientMessage;
  readonly receivedMs: number;
  /** The same moment on the monotonic clock. */
  readonly heardAtMs: number;
  /** The size of the message in memory. */
  readonly sizeBytes: number;
}

/** `encodedBytes`: the size of the message before it was decoded. */
export function sizeInMemory(message: ClientMessage, encodedBytes: number): number {
  return encodedBytes + (message.type === 'push' ? message.changesets.length * CHANGESET_BYTES : 0);
}

/**
 * The messages of one client that wait, and the limits of their memory: one whose permission is being checked, those
 * that arrive while an earlier one is handled, and pushes until their commit.
 *
 *   client ──► held, in order ──► permission checked ──► pushes that wait for their commit
 */
export class ReceiveQueue {
  /** What the pushes that wait for their commit take in memory. */
  waitingPushBytes = 0;
  /** The parts of a message that has not arrived whole. */
  partialBytes = 0;
  /** The message whose permission is being checked. */
  askedBytes = 0;
  private held: ReceivedMessage[] = [];
  private heldBytes = 0;

  get bytes(): number {
    return this.partialBytes + this.heldBytes + this.outlivingBytes;
  }

  /** What stays in memory when the session ends: a check and a commit that run cannot be cancelled. */
  get outlivingBytes(): number {
    return this.askedBytes + this.waitingPushBytes;
  }

  /** Whether so many pushes wait that the socket should not be read. */
  get isFull(): boolean {
    return this.waitingPushBytes > MAX_WAITING_PUSH_BYTES;
  }

  /**
   * Keeps a message while an earlier one is handled. Throws `frame-unexpected` if too many wait, and like `beginPush`.
   */
  hold(received: ReceivedMessage, isAnonymous: boolean): void {
    if (this.held.length >= MAX_HELD_MESSAGES)
      throw new RockpoolError('frame-unexpected', { problem: 'too many messages arrived before the first response' });
    this.requireRoom(isAnonymous ? MAX_ANONYMOUS_BYTES : MAX_UNPAUSED_BYTES);
    this.heldBytes += received.sizeBytes;
    this.held.push(received);
  }

  /** Returns the held messages in order, and holds them no longer. */
  takeHeld(): readonly ReceivedMessage[] {
    const { held } = this;
    this.held = [];
    this.heldBytes = 0;
    return held;
  }

  /**
   * Throws `rate-limited` if too much of what the client has sent is waiting. Only a connection that cannot be paused
   * reaches this limit.
   */
  beginPush(sizeBytes: number): void {
    this.requireRoom(MAX_UNPAUSED_BYTES);
    this.waitingPushBytes += sizeBytes;
  }

  endPush(sizeBytes: number): void {
    this.waitingPushBytes -= sizeBytes;
  }

  private requireRoom(limitBytes: number): void {
    const waitingBytes = this.waitingPushBytes + this.heldBytes;
    if (waitingBytes > limitBytes) throw new RockpoolError('rate-limited', { waitingBytes, limitBytes });
  }
}
