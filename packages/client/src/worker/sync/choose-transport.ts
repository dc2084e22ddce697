import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';
import type { Transport, TransportConnection, TransportName } from '../../rpc/transport.ts';
import { webSocketTransport } from './web-socket-transport.ts';

/**
 * How many attempts must fail in a row before HTTP is tried. A single failure may have a temporary cause, such as a
 * train in a tunnel.
 */
const FAILURES_BEFORE_HTTP = 2;

/**
 * An attempt that is closed before it opens counts as failed after this time, because some proxies never answer the
 * upgrade. A slow network opens a socket within this time; sync closes the attempt after 15 s.
 */
const OPENING_MS = 5_000;

/** Returns the transport of this name. */
export function transportNamed(name: TransportName): Transport {
  if (name === 'http') return httpWhenUsed;
  return name === 'websocket' ? webSocketTransport : webSocketOrHttp(webSocketTransport, httpWhenUsed);
}

/**
 * Uses WebSockets, and one connection over plain HTTP if they never open, as behind some company proxies. The next
 * connection is a WebSocket again, because a device that was merely offline must not stay on the slower path. If
 * sockets never opened before, one more failure is enough.
 */
export function webSocketOrHttp(
  webSocket: Transport,
  http: Transport,
  elapsedMs: () => number = () => performance.now(),
): Transport {
  let failures = 0;
  return {
    connect(url, events) {
      const overHttp = failures >= FAILURES_BEFORE_HTTP;
      const startedMs = elapsedMs();
      let isDecided = false;
      const fail = (): void => {
        if (!isDecided) failures = overHttp ? 0 : failures + 1;
        isDecided = true;
      };
      const connection = (overHttp ? http : webSocket).connect(url, {
        ...events,
        onOpen(): void {
          isDecided = true;
          failures = overHttp ? FAILURES_BEFORE_HTTP - 1 : 0;
          events.onOpen();
        },
        onClosed(error): void {
          fail();
          events.onClosed(error);
        },
      });
      return {
        send: (frame) => connection.send(frame),
        get bufferedBytes(): number {
          return connection.bufferedBytes;
        },
        close(): void {
          if (elapsedMs() - startedMs >= OPENING_MS) fail();
          connection.close();
        },
      };
    },
  };
}

/** Loads the code of HTTP with its first connection: few networks need it. A failure to load it ends the connection. */
const httpWhenUsed: Transport = {
  connect(url, events) {
    let isOver = false;
    let connection: TransportConnection | null = null;
    loadPart('http', () => import('./http-transport.ts')).then(
      ({ httpTransport }) => {
        if (!isOver) connection = httpTransport.connect(url, events);
      },
      () => {
        if (!isOver) events.onClosed(new RockpoolError('network-unreachable', { stage: 'http' }));
      },
    );
    return {
      send: (frame) => connection?.send(frame),
      get bufferedBytes(): number {
        return connection?.bufferedBytes ?? 0;
      },
      close(): void {
        isOver = true;
        connection?.close();
      },
    };
  },
};
