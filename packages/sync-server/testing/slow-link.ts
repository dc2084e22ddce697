import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A port that forwards to another port of this machine. It delays data in both directions at random by up to
 * `maxDelayMs`, and keeps its order.
 */
export class SlowLink {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.server = server;
  }

  static async open(to: number, maxDelayMs: number): Promise<SlowLink> {
    const server = createServer();
    const logHash = new SlowLink(server);
    server.on('connection', (near) => logHash.join(near, connect(to, '127.0.0.1'), maxDelayMs));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return logHash;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /**
   * Silences all current connections without closing them, as if a machine in between had failed. New connections work.
   */
  fallSilent(): void {
    for (const socket of this.sockets) socket.removeAllListeners('data').pause();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(near: Socket, far: Socket, maxDelayMs: number): void {
    this.carry(near, far, maxDelayMs);
    this.carry(far, near, maxDelayMs);
  }

  private carry(from: Socket, to: Socket, maxDelayMs: number): void {
    this.sockets.add(from);
    from.setNoDelay(true);
    let last = Promise.resolve();
    const afterAWhile = (act: () => void): void => {
      last = last.then(() => new Promise((resolve) => setTimeout(resolve, Math.random() * maxDelayMs))).then(act);
    };
    from.on('data', (chunk) => afterAWhile(() => void to.write(chunk)));
    from.on('error', () => undefined); // `close` follows
    from.on('close', () => {
      this.sockets.delete(from);
      afterAWhile(() => to.destroy());
    });
  }
}
