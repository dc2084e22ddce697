import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WaitingRoom, type WaitingRoomLimits } from './waiting-room.ts';

/**
 * Limits the connections of a server that wait for a request: those that have sent nothing or a part of its headers,
 * and those that are kept after a response. Above the limit, the one that has waited longest is closed. Connections
 * that have sent no request yet are also limited for each address (see `addressOf`): any more are closed at once.
 *
 * Sessions have their own limit (accept-sockets.ts): a connection no longer counts here once it has requested a
 * session.
 */
export function limitIdleConnections(
  server: Server,
  limits: WaitingRoomLimits,
  addressOf: (remoteAddress: string | undefined) => string | null,
): void {
  const room = new WaitingRoom(limits);
  const connections = new WeakMap<Socket, Connection>();
  const wait = (socket: Socket, address: string | null): (() => void) => {
    if (room.admits(address)) return room.enter(address, () => void socket.destroy());
    socket.destroy();
    return () => undefined;
  };
  const begin = (socket: Socket): Connection | undefined => {
    const connection = connections.get(socket);
    connection?.leave();
    return connection;
  };
  server.on('connection', (socket: Socket) => {
    const connection = { requests: 0, leave: wait(socket, addressOf(socket.remoteAddress)) };
    connections.set(socket, connection);
    socket.once('close', () => connection.leave());
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = begin(socket);
    if (connection === undefined) return;
    connection.requests++;
    response.once('close', () => {
      connection.requests--;
      // Not counted for its address: a browser keeps a few connections for each page, and many users may share an
      // address.
      if (connection.requests === 0 && !socket.destroyed) connection.leave = wait(socket, null);
    });
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => void begin(socket));
}

interface Connection {
  /** Requests without a complete response: a client may send several before it reads the first response. */
  requests: number;
  leave: () => void;
}
