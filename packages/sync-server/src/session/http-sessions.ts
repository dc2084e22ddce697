import { randomBytes } from 'node:crypto';
import { ByteReader, ByteWriter, MAX_HELLO_BYTES, RockpoolError } from '@rockpool/shared';
import type { Session } from './session.ts';
import type { SessionSocket } from './session-socket.ts';

/** The response to a poll: frames in order, and then the end of the session, if it has ended. */
export interface Polled {
  readonly frames: Uint8Array;
  readonly closed: { readonly code: number; readonly reason: string } | null;
}

interface HttpSession {
  readonly session: Session;
  /** Whether a request with frames is being read. */
  isReceiving: boolean;
  /** The number of frames that have been taken from the client. */
  takenCount: number;
  /** The frames that the client may lack, in order. */
  readonly outgoing: Uint8Array[];
  /** The number of frames before `outgoing`. */
  receivedCount: number;
  /** The number of frames of `outgoing` that a response has carried. */
  sentCount: number;
  /** How many polls have received frames again since the client last counted all that it was sent. */
  repeats: number;
  unreadBytes: number;
  onDrained: () => void;
  closed: Polled['closed'];
  wake: () => void;
}

/** Limit of one request: several frames of at most 256 KiB each. */
const MAX_FRAMES_BYTES = 1024 * 1024;

/** Limit of a request of a client without a valid token: a hello and its length. */
const MAX_ANONYMOUS_BYTES = MAX_HELLO_BYTES + 1024;

/**
 * How often a client may receive frames again between two polls that count all of them. Browsers and proxies repeat a
 * lost poll once or twice; a hostile client would repeat it without reading the responses, which wait in memory.
 */
const MAX_REPEATS = 8;

/** How long the end of a session is kept for a poll. */
const CLOSED_KEPT_MS = 60_000;

/** Maximum number of ended sessions that wait for a poll: a malicious client can begin and end many in a minute. */
const MAX_CLOSED_KEPT = 1_000;

/** A session id must be as hard to guess as a token, because it alone authorises polls and frames. */
const SESSION_ID_BYTES = 32;

/**
 * Sessions of clients that cannot use WebSockets: the same frames, sent by requests and fetched by long polls. After a
 * failed request the client opens another session, so it repeats none. Browsers and proxies repeat a request whose
 * response is lost. So each frame is kept until a poll counts it, and frames that have been taken are not taken again.
 */
export class HttpSessions {
  private readonly start: (socket: SessionSocket, address: string | null) => Session;
  private readonly idPrefix: string;
  private readonly sessions = new Map<string, HttpSession>();
  // Ended sessions that wait for a poll, oldest first.
  private readonly forgetting = new Map<string, NodeJS.Timeout>();

  /**
   * `start` begins a session on a socket, as Sockets.begin does. Session ids begin with `idPrefix`.
   */
  constructor(start: (socket: SessionSocket, address: string | null) => Session, idPrefix: string = '') {
    this.start = start;
    this.idPrefix = idPrefix;
  }

  /** Returns the id of a new session of a client at this address. Throws what `start` throws. */
  open(address: string | null): string {
    const id = this.idPrefix + randomBytes(SESSION_ID_BYTES).toString('base64url');
    const outgoing: Uint8Array[] = [];
    const end = (code: number, reason: string): void => {
      const ended = this.sessions.get(id);
      if (ended === undefined) return;
      ended.closed ??= { code, reason };
      ended.wake();
      this.forgetLater(id);
    };
    const socket: SessionSocket = {
      send: (frame) => {
        const to = this.sessions.get(id);
        outgoing.push(frame);
        if (to !== undefined) to.unreadBytes += frame.length;
        to?.wake();
      },
      unreadBytes: () => this.sessions.get(id)?.unreadBytes ?? 0,
      whenDrained: (onDrained) => {
        const to = this.sessions.get(id);
        if (to !== undefined) to.onDrained = onDrained;
      },
      // Requests cannot be paused. A session ends if too much of what it sent waits (receive-queue.ts).
      pause: () => undefined,
      resume: () => undefined,
      close: end,
      terminate: () => {
        end(1006, '');
        this.forget(id);
      },
    };
    const session = this.start(socket, address);
    this.sessions.set(id, {
      ...{ session, isReceiving: false, takenCount: 0, outgoing, receivedCount: 0, sentCount: 0, repeats: 0 },
      ...{ unreadBytes: 0, closed: null, onDrained: () => undefined, wake: () => undefined },
    });
    return id;
  }

  has(id: string): boolean {
    return this.sessions.has(id);
  }

  /**
   * Takes frames of the client, each prefixed with its length, from the body that `readBody` returns. Reads one body of
   * a session at a time, so that a client without a token cannot fill the memory. `sent` is the number of frames that
   * the client has sent before, which shows the frames of a repeated request; null from an older client, whose frames
   * all count as new. Throws `request-invalid` for an unknown session, for a second body and if frames are missing, and
   * `frame-invalid` for a malformed body.
   */
  async receive(
    id: string,
    readBody: (limitBytes: number) => Promise<Uint8Array>,
    sent: number | null = null,
  ): Promise<void> {
    const receiving = this.require(id);
    const { session } = receiving;
    if (receiving.isReceiving)
      throw new RockpoolError('request-invalid', { problem: 'the session sends another request' });
    receiving.isReceiving = true;
    try {
      const body = await readBody(session.isAnonymous ? MAX_ANONYMOUS_BYTES : MAX_FRAMES_BYTES);
      const reader = new ByteReader(body, 'frame-invalid');
      let number = sent ?? receiving.takenCount;
      if (number > receiving.takenCount) throw new RockpoolError('request-invalid', { problem: 'frames are missing' });
      for (; reader.remaining > 0; number++) {
        const frame = reader.lengthPrefixed();
        if (number < receiving.takenCount) continue;
        receiving.takenCount++;
        session.receive(frame.slice());
      }
    } finally {
      receiving.isReceiving = false;
    }
  }

  /**
   * Returns the frames that the client lacks, or those that arrive within `waitMs`, or until the next poll. `received`
   * is the number of frames that the client has received. A browser or a proxy may repeat a GET whose response was
   * lost, without the client's knowledge, so frames are kept until the next poll counts them. Null from an older
   * client, which has received every response. The end of a session can be polled again for a minute. Throws
   * `request-invalid` for a number of frames that were not sent, and `rate-limited` if frames were repeated too often.
   */
  async poll(id: string, waitMs: number, received: number | null = null): Promise<Polled> {
    const polled = this.require(id);
    // Otherwise a client without a token could keep any number of requests waiting.
    polled.wake();
    drop(polled, received === null ? polled.sentCount : received - polled.receivedCount);
    if (polled.sentCount > 0 && ++polled.repeats > MAX_REPEATS)
      throw new RockpoolError('rate-limited', { repeats: MAX_REPEATS });
    if (polled.outgoing.length === 0 && polled.closed === null) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        polled.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const writer = new ByteWriter();
    for (const frame of polled.outgoing) writer.lengthPrefixed(frame);
    polled.sentCount = polled.outgoing.length;
    return { frames: writer.finish(), closed: polled.closed };
  }

  /** Ends the session at the client's request. */
  leave(id: string): void {
    const { session } = this.require(id);
    this.forget(id);
    session.disconnected();
  }

  private forgetLater(id: string): void {
    this.forgetting.set(id, setTimeout(() => this.forget(id), CLOSED_KEPT_MS).unref());
    const [oldest = id] = this.forgetting.keys();
    if (this.forgetting.size > MAX_CLOSED_KEPT) this.forget(oldest);
  }

  private forget(id: string): void {
    this.sessions.delete(id);
    clearTimeout(this.forgetting.get(id));
    this.forgetting.delete(id);
  }

  private require(id: string): HttpSession {
    const session = this.sessions.get(id);
    if (session === undefined) throw new RockpoolError('request-invalid', { problem: 'the session does not exist' });
    return session;
  }
}

/** Forgets frames that the client has received. A repeated request counts fewer than one that it follows. */
function drop(polled: HttpSession, count: number): void {
  if (count > polled.sentCount)
    throw new RockpoolError('request-invalid', { problem: 'the session has not sent so many frames' });
  if (count <= 0) return;
  // A client that counts a part would receive the rest again without end.
  if (count === polled.sentCount) polled.repeats = 0;
  const dropped = polled.outgoing.splice(0, count);
  polled.receivedCount += count;
  polled.sentCount -= count;
  polled.unreadBytes -= dropped.reduce((sum, { length }) => sum + length, 0);
  if (polled.unreadBytes > 0) return;
  const { onDrained } = polled;
  polled.onDrained = () => undefined;
  onDrained();
}
