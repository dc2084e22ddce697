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
  const room = new WaitingRoom<Socket>(limits, (socket) => void socket.destroy());
  // Requests without a complete response: a client may send several before it reads the first response.
  const requests = new WeakMap<Socket, number>();
  const wait = (socket: Socket, address: string | null): void => {
    if (room.admits(address)) room.enter(socket, address);
    else socket.destroy();
  };
  // One listener for all connections, because each of a thousand sessions would keep its own in memory.
  const onClose = function (this: Socket): void {
    room.leave(this);
  };
  server.on('connection', (socket: Socket) => {
    wait(socket, addressOf(socket.remoteAddress));
    socket.on('close', onClose);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    room.leave(socket);
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1;
      requests.set(socket, left);
      // Not counted for its address: a browser keeps a few connections for each page, and many users may share an
      // address.
      if (left === 0 && !socket.destroyed) wait(socket, null);
    });
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    room.leave(socket);
    // A response to an earlier request may still end.
    if (requests.has(socket)) requests.set(socket, Infinity);
    socket.off('close', onClose);
  });
}
