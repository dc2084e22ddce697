import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { webSocketOrHttp } from './choose-transport.ts';
import type { Transport } from '../../rpc/transport.ts';

const unreachable = new RockpoolError('network-unreachable');

/** A transport that opens or fails immediately. */
function line(name: string, opens: () => boolean, tried: string[]): Transport {
  return {
    connect(_url, events) {
      tried.push(name);
      if (opens()) events.onOpen();
      events.onClosed(unreachable);
      return { send: () => undefined, bufferedBytes: 0, close: () => undefined };
    },
  };
}

it('webSocketOrHttp uses plain HTTP once WebSockets have failed to open twice, and tries them again with each new connection', () => {
  const tried: string[] = [];
  let httpOpens = true;
  let socketOpens = false;
  const transport = webSocketOrHttp(
    line('socket', () => socketOpens, tried),
    line('http', () => httpOpens, tried),
  );
  const attempt = (): void =>
    void transport.connect('wss://example.org/sync', {
      onOpen: () => undefined,
      onFrame: () => undefined,
      onClosed: () => undefined,
    });
  for (let i = 0; i < 5; i++) attempt();
  expect(tried.splice(0)).toEqual(['socket', 'socket', 'http', 'socket', 'http']);
  // On a device that is offline, neither transport opens. Sockets are tried first when the network is back.
  httpOpens = false;
  for (let i = 0; i < 4; i++) attempt();
  expect(tried.splice(0)).toEqual(['socket', 'http', 'socket', 'socket']);
  socketOpens = true;
  httpOpens = true;
  for (let i = 0; i < 3; i++) attempt();
  expect(tried).toEqual(['http', 'socket', 'socket']);
});

it('webSocketOrHttp stays with WebSockets if they open, however often they are cut', () => {
  const tried: string[] = [];
  const transport = webSocketOrHttp(
    line('socket', () => true, tried),
    line('http', () => true, tried),
  );
  for (let i = 0; i < 5; i++)
    transport.connect('wss://example.org/sync', {
      onOpen: () => undefined,
      onFrame: () => undefined,
      onClosed: () => undefined,
    });
  expect(new Set(tried)).toEqual(new Set(['socket']));
});

it('webSocketOrHttp uses plain HTTP after two WebSockets that were closed because they did not open in time', () => {
  const tried: string[] = [];
  let elapsedMs = 0;
  /** A transport that neither opens nor fails. */
  const silent = (name: string): Transport => ({
    connect() {
      tried.push(name);
      return { send: () => undefined, bufferedBytes: 0, close: () => undefined };
    },
  });
  const transport = webSocketOrHttp(silent('socket'), silent('http'), () => elapsedMs);
  const closeAfter = (durationMs: number): void => {
    const connection = transport.connect('wss://example.org/sync', {
      onOpen: () => undefined,
      onFrame: () => undefined,
      onClosed: () => undefined,
    });
    elapsedMs += durationMs;
    connection.close();
    connection.close();
  };
  // The app leaves before the socket could open.
  for (let i = 0; i < 4; i++) closeAfter(100);
  expect(new Set(tried.splice(0))).toEqual(new Set(['socket']));
  for (let i = 0; i < 4; i++) closeAfter(15_000);
  expect(tried).toEqual(['socket', 'socket', 'http', 'socket']);
});
