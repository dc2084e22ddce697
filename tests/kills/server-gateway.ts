import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** One address for a server that restarts on a different port after each kill. */
export class ServerGateway {
  /** Null while the server is down: connections are refused. */
  target: number | null = null;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.server = server;
  }

  static async open(): Promise<ServerGateway> {
    const server = createServer();
    const gateway = new ServerGateway(server);
    server.on('connection', (near) => gateway.join(near));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return gateway;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}/sync`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(near: Socket): void {
    if (this.target === null) return void near.destroy();
    const far = connect(this.target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => undefined); // `close` follows
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
