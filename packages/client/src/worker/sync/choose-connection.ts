import type { Connect } from './web-socket.ts';

/** Failed attempts in a row before HTTP is tried: one may be a tunnel between two stations. */
const FAILURES_BEFORE_HTTP = 2;

/**
 * Uses WebSockets, and one connection over plain HTTP if they never open, as behind some company proxies. The next
 * connection is a WebSocket again: a device that was merely offline must not stay on the slower path. If sockets never
 * opened before, one more failure is enough.
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
