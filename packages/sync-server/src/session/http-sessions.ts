import { randomBytes } from 'node:crypto';
import { ByteReader, ByteWriter, RockpoolError } from '@rockpool/shared';
import type { Session } from './session.ts';
import type { SessionSocket } from './session-socket.ts';

/** What a poll brings: frames in order, and whether the session has ended behind them. */
export interface Polled {
  readonly frames: Uint8Array;
  readonly closed: { readonly code: number; readonly reason: string } | null;
}

interface HttpSession {
  readonly session: Session;
  readonly outgoing: Uint8Array[];
  unreadBytes: number;
  closed: Polled['closed'];
  wake: () => void;
}

/** A client that does not ask how its session ended is gone. */
const CLOSED_KEPT_MS = 60_000;

/** And so many are waited for: sessions are begun and ended faster than a minute passes by whoever means no good. */
const MAX_CLOSED_KEPT = 1_000;

/** As unguessable as a token: whoever has it is the client that opened the session. */
const SESSION_ID_BYTES = 32;

/**
 * Sessions of clients for whom WebSockets are blocked: the same frames, sent by requests and fetched by requests that
 * wait. A request that fails ends the connection for the client, which opens another one; so nothing is ever sent twice
 * within a session.
 */
export class HttpSessions {
  private readonly start: (socket: SessionSocket) => Session;
  private readonly sessions = new Map<string, HttpSession>();
  // Those that have ended and were not asked about, in the order in which they did.
  private readonly forgetting = new Map<string, NodeJS.Timeout>();

  /** `start`: begins a session on a socket, and may throw `too-many-connections`. */
  constructor(start: (socket: SessionSocket) => Session) {
    this.start = start;
  }

  open(): string {
    const id = randomBytes(SESSION_ID_BYTES).toString('base64url');
    const outgoing: Uint8Array[] = [];
    const end = (code: number, reason: string): void => {
      const ended = this.sessions.get(id);
      if (ended === undefined) return;
      ended.closed ??= { code, reason };
      ended.wake();
      this.forgetLater(id);
    };
    const session = this.start({
      send: (frame) => {
        const to = this.sessions.get(id);
        outgoing.push(frame);
        if (to !== undefined) to.unreadBytes += frame.length;
        to?.wake();
      },
      unreadBytes: () => this.sessions.get(id)?.unreadBytes ?? 0,
      // What a client sends waits for the answer to what it sent before.
      pause: () => undefined,
      resume: () => undefined,
      close: end,
      terminate: () => {
        end(1006, '');
        this.forget(id);
      },
    });
    this.sessions.set(id, { session, outgoing, unreadBytes: 0, closed: null, wake: () => undefined });
    return id;
  }

  /**
   * Frames of the client, each behind its length. Throws `request-invalid` for a session that is not there,
   * `frame-invalid` for a body that is none.
   */
  receive(id: string, body: Uint8Array): void {
    const { session } = this.require(id);
    const reader = new ByteReader(body, 'frame-invalid');
    while (reader.remaining > 0) session.receive(reader.lengthPrefixed().slice());
  }

  /** What there is, or what comes within this time. The session is gone once its end was told. */
  async poll(id: string, waitMs: number): Promise<Polled> {
    const polled = this.require(id);
    if (polled.outgoing.length === 0 && polled.closed === null) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        polled.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      polled.wake = () => undefined;
    }
    const writer = new ByteWriter();
    for (const frame of polled.outgoing.splice(0)) writer.lengthPrefixed(frame);
    polled.unreadBytes = 0;
    if (polled.closed !== null) this.forget(id);
    return { frames: writer.finish(), closed: polled.closed };
  }

  /** The client goes. */
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
    if (session === undefined) throw new RockpoolError('request-invalid', { problem: 'no such session' });
    return session;
  }
}
