import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { MAX_FRAME_BYTES } from '@rockpool/shared';
import { WebSocketServer } from 'ws';
import { leaveSession, openSession, pollFrames, sendFrames } from '../src/routes/sessions.ts';
import type { Route, Services } from '../src/routes/route.ts';
import { WebSocketConnection } from '../src/session/web-socket-connection.ts';
import { HttpSessions } from '../src/session/http-sessions.ts';
import { acceptInProcess, type InProcessClient, type InProcessSession } from '../src/session/in-process.ts';
import type { Session } from '../src/session/session.ts';
import type { SessionSocket } from '../src/session/session-socket.ts';

/** The server's end of one connection, for a test to drive. */
export class ServerEnd {
  readonly socket: SessionSocket;
  readonly received: Uint8Array[] = [];
  isDisconnected = false;
  /** While true, frames stay at the client. */
  isPaused = false;

  constructor(socket: SessionSocket) {
    this.socket = socket;
  }

  receive(frame: Uint8Array): void {
    this.received.push(frame.slice());
  }

  disconnected(): void {
    this.isDisconnected = true;
  }

  pause(): void {
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.socket.resume();
  }
}

/** A server of one transport that runs no sessions: a test drives each connection. */
export interface ScriptedServer {
  readonly url: string;
  /** The server's ends of the connections, in the order in which they were opened. */
  readonly ends: readonly ServerEnd[];
  close(): Promise<void>;
}

async function listen(http: Server): Promise<string> {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function closeHttp(http: Server): Promise<void> {
  http.closeAllConnections();
  await new Promise<void>((resolve) => void http.close(() => resolve()));
}

export async function webSocketServer(): Promise<ScriptedServer> {
  const http = createServer();
  const ends: ServerEnd[] = [];
  const sockets = new WebSocketServer({ server: http, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });
  sockets.on('connection', (webSocket, { socket }) => {
    webSocket.binaryType = 'nodebuffer';
    const end = new ServerEnd(new WebSocketConnection(webSocket, socket));
    webSocket.on('message', (data: Buffer) => end.receive(data));
    webSocket.on('close', () => end.disconnected());
    webSocket.on('error', () => undefined);
    ends.push(end);
  });
  const url = await listen(http);
  const close = async (): Promise<void> => {
    for (const webSocket of sockets.clients) webSocket.terminate();
    sockets.close();
    await closeHttp(http);
  };
  return { url, ends, close };
}

export async function httpServer(): Promise<ScriptedServer> {
  const ends: ServerEnd[] = [];
  const httpSessions = new HttpSessions((socket) => {
    const end = new ServerEnd(socket);
    ends.push(end);
    return end as unknown as Session;
  });
  const app = new Hono();
  const add = ({ method, path, answer }: Route): void =>
    void app.on(method, path, async (context) => {
      if (path === sendFrames.path && method === 'POST')
        while (ends.some(({ isPaused }) => isPaused)) await new Promise((resolve) => setTimeout(resolve, 5));
      return answer({
        services: { httpSessions } as unknown as Services,
        principal: undefined as never,
        databaseId: '',
        address: null,
        param: (name) => context.req.param(name) ?? '',
        request: context.req.raw,
      });
    });
  for (const route of [openSession, sendFrames, pollFrames, leaveSession]) add(route);
  app.onError((error, context) => context.json({ error: error.message }, 400));
  const http = createServer((...exchange) => void getRequestListener(app.fetch)(...exchange));
  // A kept connection that the server closes while a busy client begins its DELETE loses the request, and these ends,
  // unlike sessions, do not notice a client that is silent.
  http.keepAliveTimeout = 0;
  return { url: await listen(http), ends, close: () => closeHttp(http) };
}

export interface ScriptedProcessServer extends ScriptedServer {
  /** The server in the form that `inProcess` takes. */
  readonly server: {
    connect(client: InProcessClient): InProcessSession;
    readonly app: { fetch(): Response };
  };
}

export async function processServer(): Promise<ScriptedProcessServer> {
  const ends: ServerEnd[] = [];
  let isClosed = false;
  return {
    url: 'ws://in-process',
    ends,
    server: {
      connect(client) {
        if (isClosed) throw new Error('the server is closed');
        return acceptInProcess((socket) => {
          const end = new ServerEnd(socket);
          ends.push(end);
          return end;
        }, client);
      },
      app: { fetch: () => new Response(null, { status: 404 }) },
    },
    async close() {
      isClosed = true;
      for (const { socket } of ends) socket.terminate();
    },
  };
}
