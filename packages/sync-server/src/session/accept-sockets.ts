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
import { WebSocketConnection } from './web-socket-connection.ts';

/** Interval of deadline checks. Tokens are also checked at every message. */
export const SWEEP_INTERVAL_MS = 1_000;

export interface SocketsOptions {
  readonly origins: readonly string[];
  readonly addressOf: AddressOf;
  readonly context: Omit<SessionContext, 'onAuthenticated' | 'onClosed'>;
}

interface Listeners {
  readonly message: (this: WebSocket, data: Buffer) => void;
  readonly close: (this: WebSocket) => void;
  readonly error: (error: Error) => void;
}

/** Accepts WebSockets of HTTP servers and runs a session on each. */
export class Sockets {
  private readonly options: Omit<SocketsOptions, 'context'>;
  private readonly context: SessionContext;
  private readonly sessions = new Set<Session>();
  private readonly sessionOf = new Map<WebSocket, Session>();
  private readonly waitingRoom: WaitingRoom<Session>;
  private readonly detach: (() => void)[] = [];
  private readonly log: Logger;
  // `noServer`: `attach` checks the origin before the upgrade. No compression: a small frame cannot become a large one.
  // `clientTracking` would add a listener to each socket.
  private readonly webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
  private readonly listeners = this.listenersOfAll();
  private readonly sweep: NodeJS.Timeout;
  private isClosed = false;

  constructor(options: SocketsOptions) {
    this.options = options;
    this.context = {
      ...options.context,
      onAuthenticated: (session) => this.admit(session),
      onClosed: (session) => this.forget(session),
    };
    this.log = this.context.log;
    this.waitingRoom = new WaitingRoom(this.context.limits, (session, error) => session.fail(error));
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
        this.context.metrics.socketsRefused.add(1, { reason: 'auth-origin-refused' });
        refuse(socket, '403 Forbidden');
        return;
      }
      const address = this.addressOf(request);
      if (this.isFull || !this.waitingRoom.admits(address)) {
        this.context.metrics.socketsRefused.add(1, { reason: 'too-many-connections' });
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
    const open = [...this.sessionOf.keys()];
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
    const { limits, metrics } = this.context;
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
    return this.sessions.size - this.waitingRoom.size >= this.context.limits.maxSockets;
  }

  private enter(socket: SessionSocket, address: string | null): Session {
    const session = new Session(socket, this.context, address);
    this.waitingRoom.enter(session, address);
    this.sessions.add(session);
    return session;
  }

  /** Throws `too-many-connections`. */
  private admit(session: Session): void {
    if (this.isFull) throw new RockpoolError('too-many-connections', { limit: this.context.limits.maxSockets });
    this.waitingRoom.leave(session);
  }

  private forget(session: Session): void {
    this.waitingRoom.leave(session);
    this.sessions.delete(session);
  }

  private start(webSocket: WebSocket, stream: Duplex, address: string | null): void {
    webSocket.binaryType = 'nodebuffer';
    this.sessionOf.set(webSocket, this.enter(new WebSocketConnection(webSocket, stream), address));
    webSocket.on('message', this.listeners.message);
    webSocket.on('close', this.listeners.close);
    webSocket.on('error', this.listeners.error);
  }

  /** The listeners of all sockets. Listeners of its own would take a part of the memory of each session. */
  private listenersOfAll(): Listeners {
    const { sessionOf } = this;
    return {
      message(data) {
        // A plain Uint8Array is needed, because its slice() copies, while that of a Buffer shares memory. A text
        // message arrives as its bytes and fails as a frame.
        sessionOf.get(this)?.receive(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      },
      close() {
        const session = sessionOf.get(this);
        sessionOf.delete(this);
        session?.disconnected();
      },
      error: (error) => this.broken('code' in error && typeof error.code === 'string' ? error.code : null),
    };
  }

  /**
   * Logs a socket error. ws closes the socket itself: with 1009 for a frame over maxPayload, 1008 for too many parts,
   * 1002 for an invalid frame.
   */
  private broken(systemCode: string | null): void {
    this.log('socket-error', { systemCode });
    const reason = reasonOfBreach(systemCode);
    if (reason !== null) this.context.metrics.socketsCut.add(1, { reason });
  }

  private checkDeadlines(): void {
    const nowMs = this.context.monotonicMs();
    for (const session of [...this.sessions]) session.checkDeadlines(nowMs);
  }
}

/** Null for a broken connection. */
function reasonOfBreach(systemCode: string | null): ErrorCode | null {
  if (systemCode === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || systemCode === 'WS_ERR_TOO_MANY_BUFFERED_PARTS')
    return 'frame-too-large';
  return systemCode?.startsWith('WS_ERR_') === true ? 'frame-invalid' : null;
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
