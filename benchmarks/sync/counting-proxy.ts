import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Forwards bytes to a port and counts them: the whole TCP payload, including compression and framing. */
export interface CountingProxy {
  readonly port: number;
  upBytes: number;
  downBytes: number;
  close(): void;
}

export async function startProxy(targetPort: number): Promise<CountingProxy> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    client.on('data', (bytes) => (proxy.upBytes += bytes.length));
    target.on('data', (bytes) => (proxy.downBytes += bytes.length));
    client.pipe(target).pipe(client);
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined); // The close event that follows informs the other end.
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: CountingProxy = {
    port: (server.address() as AddressInfo).port,
    upBytes: 0,
    downBytes: 0,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}
