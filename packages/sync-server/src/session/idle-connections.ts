import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WaitingRoom, type WaitingRoomLimits } from './waiting-room.ts';

/**
 * Limits the connections of a server that wait for a request: those that have sent nothing or a part of its headers,
 * and those that are kept after a response. In a full room the one that has waited longest is closed. Connections that
 * have sent no request yet are also limited by the address that `addressOf` names, and more are closed at once.
 *
 * A session has places of its own (accept-sockets.ts): its connection leaves the room at its request.
 */
export function limitIdleConnections(
  server: Server,
  limits: WaitingRoomLimits,
  addressOf: (remoteAddress: string | undefined) => string | null,
): void {
  const room = new WaitingRoom(limits);
  const leaveBySocket = new WeakMap<Socket, () => void>();
  const wait = (socket: Socket, address: string | null): void => {
    if (!room.admits(address)) return void socket.destroy();
    leaveBySocket.set(
      socket,
      room.enter(address, () => void socket.destroy()),
    );
  };
  const leave = (socket: Socket): void => leaveBySocket.get(socket)?.();
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => leave(socket));
    wait(socket, addressOf(socket.remoteAddress));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    leave(socket);
    response.once('close', () => {
      // Without an address: a browser keeps a few connections for each page behind the same network.
      if (!socket.destroyed) wait(socket, null);
    });
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => leave(socket));
}
