import { MAX_FRAME_BYTES } from '@rockpool/shared';
import type { Session } from './session.ts';
import type { SessionSocket } from './session-socket.ts';

/** The client's end of a session in this process. */
export interface InProcessClient {
  receive(frame: Uint8Array): void;
  /** Called when the server has ended the session, after all earlier frames. At most once, and not after `close`. */
  closed(code: number, reason: string): void;
}

/** The server's end of the session, with the calls that the client makes. */
export interface InProcessSession {
  send(frame: Uint8Array): void;
  /** Bytes of frames that the server has not read yet. */
  readonly bufferedBytes: number;
  close(): void;
}

/** The codes that WebSockets use. */
const CLOSE_CUT = 1006;
const CLOSE_TOO_LARGE = 1009;

/**
 * Begins a session with a client in this process, without sockets. Frames cross in tasks of their own, so neither end
 * runs inside a call of the other, and timers and I/O run in between. Throws what `start` throws.
 */
export function acceptInProcess(
  start: (socket: SessionSocket) => Pick<Session, 'receive' | 'disconnected'>,
  client: InProcessClient,
): InProcessSession {
  return new InProcessPipe(start, client);
}

class InProcessPipe implements InProcessSession {
  bufferedBytes = 0;
  private readonly session: Pick<Session, 'receive' | 'disconnected'>;
  private readonly client: InProcessClient;
  /** Frames that the server has not read. */
  private incoming: Uint8Array[] = [];
  private isReading = false;
  private isPaused = false;
  /** Bytes that the client has not read. */
  private unreadBytes = 0;
  private onDrained: (() => void) | null = null;
  private isOver = false;
  private isClosed = false;

  constructor(start: (socket: SessionSocket) => Pick<Session, 'receive' | 'disconnected'>, client: InProcessClient) {
    this.client = client;
    this.session = start({
      send: (frame) => this.deliver(frame),
      unreadBytes: () => this.unreadBytes,
      whenDrained: (onDrained) => void (this.onDrained = onDrained),
      pause: () => void (this.isPaused = true),
      resume: () => {
        this.isPaused = false;
        this.readSoon();
      },
      close: (code, reason) => this.end(code, reason),
      terminate: () => this.end(CLOSE_CUT, ''),
    });
  }

  send(frame: Uint8Array): void {
    if (this.isOver) return;
    if (frame.length > MAX_FRAME_BYTES) {
      this.session.disconnected();
      return this.end(CLOSE_TOO_LARGE, 'frame too large');
    }
    this.bufferedBytes += frame.length;
    this.incoming.push(frame.slice());
    this.readSoon();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.isOver = true;
    setImmediate(() => this.session.disconnected());
  }

  private readSoon(): void {
    if (this.isReading) return;
    this.isReading = true;
    setImmediate(() => this.read());
  }

  private read(): void {
    this.isReading = false;
    while (!this.isOver && !this.isPaused) {
      const frame = this.incoming.shift();
      if (frame === undefined) return;
      this.bufferedBytes -= frame.length;
      this.session.receive(frame);
    }
  }

  private deliver(frame: Uint8Array): void {
    if (this.isOver) return;
    const copy = frame.slice();
    this.unreadBytes += copy.length;
    setImmediate(() => {
      this.unreadBytes -= copy.length;
      if (this.unreadBytes === 0) this.drained();
      if (!this.isClosed) this.client.receive(copy);
    });
  }

  private drained(): void {
    const { onDrained } = this;
    this.onDrained = null;
    onDrained?.();
  }

  private end(code: number, reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    setImmediate(() => {
      if (this.isClosed) return;
      this.isClosed = true;
      this.client.closed(code, reason);
    });
  }
}
