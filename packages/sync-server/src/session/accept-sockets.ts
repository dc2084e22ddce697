import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { MAX_FRAME_BYTES, RockpoolError, toRockpoolError, type ErrorCode } from '@rockpool/shared';
import { WebSocket, WebSocketServer } from 'ws';
import type { AddressOf } from '../auth/client-address.ts';
import { isOriginAllowed, loggedOrigin } from '../auth/origin.ts';
import type { Logger } from '../observe/log-line.ts';
import type { SessionFacts } from './devices.ts';
import { Session, type SessionContext } from './session.ts';
import type { SessionSocket } from './session-socket.ts';
import { WaitingRoom } from './waiting-room.ts';
import { webSocketFrame } from './web-socket-frame.ts';

/** Interval of deadline checks. Tokens are also checked at every message. */
const SWEEP_INTERVAL_MS = 1_000;

/** A client that does not answer the closing handshake is disconnected after this time. */
const CLOSE_PATIENCE_MS = 5_000;

export interface SocketsOptions {
  readonly origins: readonly string[];
  readonly addressOf: AddressOf;
  readonly context: Omit<SessionContext, 'address' | 'onAuthenticated' | 'onClosed'>;
}

/** Accepts WebSockets of HTTP servers and runs a session on each. */
export class Sockets {
  private readonly options: SocketsOptions;
  private readonly sessions = new Set<Session>();
  private readonly waitingRoom: WaitingRoom;
  private readonly detach: (() => void)[] = [];
  private readonly log: Logger;
  // `noServer`: `attach` checks the origin before the upgrade. No compression: a small frame cannot become a large one.
  private readonly webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    clientTracking: true,
  });
  private readonly sweep: NodeJS.Timeout;
  private isClosed = false;

  constructor(options: SocketsOptions) {
    this.options = options;
    this.log = options.context.log;
    this.waitingRoom = new WaitingRoom(options.context.limits);
    // Runs after the sockets have been read, because frames that arrived while the thread was busy are not silence.
    this.sweep = setInterval(() => setImmediate(() => this.checkDeadlines()), SWEEP_INTERVAL_MS);
    this.sweep.unref();
  }

  /** Handles WebSocket upgrades of `path`. Leaves other paths to the host's own listeners. */
  attach(server: Server, path: string): void {
    const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      if (pathOf(request) !== path) {
        // Refuses the socket, which would hang without another listener.
        if (server.listenerCount('upgrade') === 1) refuse(socket, '404 Not Found');
        return;
      }
      if (!isOriginAllowed(request.headers.origin, request.headers.host, this.options.origins)) {
        this.log('origin-refused', {
          origin: loggedOrigin(request.headers.origin),
          address: this.addressOf(request),
        });
        this.options.context.metrics.socketsRefused.add(1, { reason: 'auth-origin-refused' });
        refuse(socket, '403 Forbidden');
        return;
      }
      const address = this.addressOf(request);
      if (this.isFull || !this.waitingRoom.admits(address)) {
        this.options.context.metrics.socketsRefused.add(1, { reason: 'too-many-connections' });
        refuse(socket, '503 Service Unavailable');
        return;
      }
      this.webSockets.handleUpgrade(request, socket, head, (webSocket) => this.start(webSocket, socket, address));
    };
    server.on('upgrade', onUpgrade);
    this.detach.push(() => server.off('upgrade', onUpgrade));
  }

  /** Refuses new sessions and closes the open ones with code 1001. Resolves when all sockets are closed. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const detach of this.detach) detach();
    clearInterval(this.sweep);
    for (const session of [...this.sessions]) session.goAway('server stops');
    const open = [...this.webSockets.clients];
    await Promise.all(
      open.map(
        (webSocket) =>
          new Promise<void>((resolve) =>
            webSocket.readyState === WebSocket.CLOSED ? resolve() : webSocket.once('close', () => resolve()),
          ),
      ),
    );
  }

  /** Checks the rights of the sessions of a database immediately, because rights in it have changed. */
  reauthorize(databaseId: string): void {
    for (const session of [...this.sessions]) session.reauthorizeNow(databaseId);
  }

  /** The sessions of principals that may read their database. */
  facts(): SessionFacts[] {
    return [...this.sessions].map((session) => session.facts).filter((facts) => facts !== null);
  }

  get count(): number {
    return this.sessions.size;
  }

  /** Sessions without a valid token. */
  get waitingCount(): number {
    return this.waitingRoom.size;
  }

  /**
   * Begins a session over plain HTTP (http-sessions.ts) or in this process (in-process.ts). Throws
   * - `too-many-connections`
   * - `database-unavailable` once `close` has been called: the session would stay connected without any delivery
   */
  begin(socket: SessionSocket, address: string | null): Session {
    const { limits, metrics } = this.options.context;
    try {
      if (this.isClosed) throw new RockpoolError('database-unavailable', { problem: 'the server is stopping' });
      if (this.isFull) throw new RockpoolError('too-many-connections', { limit: limits.maxSockets });
      return this.enter(socket, address);
    } catch (error) {
      metrics.socketsRefused.add(1, { reason: toRockpoolError(error).code });
      throw error;
    }
  }

  private addressOf(request: IncomingMessage): string | null {
    return this.options.addressOf(request.socket.remoteAddress, header(request, 'x-forwarded-for'));
  }

  private get isFull(): boolean {
    return this.sessions.size - this.waitingRoom.size >= this.options.context.limits.maxSockets;
  }

  private enter(socket: SessionSocket, address: string | null): Session {
    const { context } = this.options;
    const leave = this.waitingRoom.enter(address, (error) => session.fail(error));
    const session = new Session(socket, {
      ...context,
      address,
      onAuthenticated: () => {
        if (this.isFull) throw new RockpoolError('too-many-connections', { limit: context.limits.maxSockets });
        leave();
      },
      onClosed: (closed) => {
        leave();
        this.sessions.delete(closed);
      },
    });
    this.sessions.add(session);
    return session;
  }

  private start(webSocket: WebSocket, stream: Duplex, address: string | null): void {
    webSocket.binaryType = 'nodebuffer';
    const session = this.enter(toSessionSocket(webSocket, stream), address);
    webSocket.on('message', (data: Buffer) => {
      // A plain Uint8Array is needed, because its slice() copies, while that of a Buffer shares memory. A text message
      // arrives as its bytes and fails as a frame.
      session.receive(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    });
    webSocket.on('close', () => session.disconnected());
    webSocket.on('error', (error) =>
      this.broken('code' in error && typeof error.code === 'string' ? error.code : null),
    );
  }

  /**
   * Logs a socket error. ws closes the socket itself: with 1009 for a frame over maxPayload, 1008 for too many parts,
   * 1002 for an invalid frame.
   */
  private broken(systemCode: string | null): void {
    this.log('socket-error', { systemCode });
    const reason = reasonOfBreach(systemCode);
    if (reason !== null) this.options.context.metrics.socketsCut.add(1, { reason });
  }

  private checkDeadlines(): void {
    const nowMs = this.options.context.monotonicMs();
    for (const session of [...this.sessions]) session.checkDeadlines(nowMs);
  }
}

/** Null for a broken connection. */
function reasonOfBreach(systemCode: string | null): ErrorCode | null {
  if (systemCode === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || systemCode === 'WS_ERR_TOO_MANY_BUFFERED_PARTS')
    return 'frame-too-large';
  return systemCode?.startsWith('WS_ERR_') === true ? 'frame-invalid' : null;
}

/** `stream` is the connection below an uncompressed WebSocket. */
export function toSessionSocket(webSocket: WebSocket, stream: Duplex): SessionSocket {
  const isOpen = (): boolean => webSocket.readyState === WebSocket.OPEN;
  return {
    send: (frame) => {
      if (!isOpen()) return;
      const bytes = webSocketFrame(frame);
      if (bytes === undefined) webSocket.send(frame);
      else stream.write(bytes);
    },
    unreadBytes: () => webSocket.bufferedAmount,
    // Emitted after a write that exceeded the high-water mark, at most 64 KiB.
    whenDrained: (onDrained) => void stream.once('drain', onDrained),
    pause: () => {
      if (isOpen()) webSocket.pause();
    },
    resume: () => {
      if (isOpen()) webSocket.resume();
    },
    close: (code, reason) => {
      webSocket.resume(); // Otherwise the response to the closing handshake would never be read.
      webSocket.close(code, reason);
      setTimeout(() => webSocket.terminate(), CLOSE_PATIENCE_MS).unref();
    },
    terminate: () => webSocket.terminate(),
  };
}

function header(request: IncomingMessage, name: string): string | undefined {
  return [request.headers[name]].flat().join(',') || undefined;
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? '/').split('?', 1)[0] as string;
}

function refuse(socket: Duplex, status: string): void {
  socket.on('error', () => undefined);
  // Otherwise a client that does not close its end would keep the socket open forever, counted by no limit.
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
