import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A port that forwards to another port, by default of this machine. It delays data in both directions at random by up
 * to `maxDelayMs`, and keeps its order.
 */
export class SlowLink {
  /** The port that new connections lead to. */
  to: number;
  /** A new value also applies to current connections. */
  maxDelayMs: number;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(server: Server, to: number, maxDelayMs: number) {
    this.server = server;
    this.to = to;
    this.maxDelayMs = maxDelayMs;
  }

  /** `host` is the machine of `to`. */
  static async open(to: number, maxDelayMs: number, host = '127.0.0.1'): Promise<SlowLink> {
    const server = createServer();
    const link = new SlowLink(server, to, maxDelayMs);
    server.on('connection', (near) => link.join(near, connect(link.to, host)));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return link;
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

  private join(near: Socket, far: Socket): void {
    this.carry(near, far);
    this.carry(far, near);
  }

  /** Without a delay it needs no timer, so that the timers of a test may be fakes. */
  private delay(): Promise<void> | void {
    const { maxDelayMs } = this;
    if (maxDelayMs > 0) return new Promise((resolve) => void setTimeout(resolve, Math.random() * maxDelayMs));
  }

  private carry(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.setNoDelay(true);
    let last = Promise.resolve();
    const afterAWhile = (act: () => void): void => {
      last = last.then(() => this.delay()).then(act);
    };
    from.on('data', (chunk) => afterAWhile(() => void to.write(chunk)));
    from.on('error', () => undefined); // `close` follows
    from.on('close', () => {
      this.sockets.delete(from);
      afterAWhile(() => to.destroy());
    });
  }
}
