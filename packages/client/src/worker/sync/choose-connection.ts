import type { Connect } from './web-socket.ts';

/**
 * So many attempts in a row that never opened before the other way is tried: one may be a tunnel between two stations.
 */
const FAILURES_BEFORE_HTTP = 2;

/**
 * WebSockets, and where they never open, such as behind some company proxies, one connection over plain HTTP. Whatever
 * becomes of that, the next one is a WebSocket again: a device that was merely offline must not stay with the slower
 * way. Where sockets did not open before, one more failure is enough.
 */
export function webSocketOrHttp(webSocket: Connect, http: Connect): Connect {
  let failures = 0;
  return (url, events) => {
    const overHttp = failures >= FAILURES_BEFORE_HTTP;
    let hasOpened = false;
    return (overHttp ? http : webSocket)(url, {
      ...events,
      onOpen(): void {
        hasOpened = true;
        failures = overHttp ? FAILURES_BEFORE_HTTP - 1 : 0;
        events.onOpen();
      },
      onFailed(error): void {
        if (!hasOpened) failures = overHttp ? 0 : failures + 1;
        events.onFailed(error);
      },
    });
  };
}
