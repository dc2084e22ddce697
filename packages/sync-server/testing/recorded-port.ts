import type { Server } from 'node:http';
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { askServer, type Ask } from './ask-server.ts';
import { TestConnection, type TestSite } from './test-client.ts';

/**
 * An additional port of a server for some of its clients. It records every byte that the server sends through it:
 * WebSocket frames, responses, headers and the end of connections.
 */
export class RecordedPort {
  private readonly listener: NetServer;
  private readonly sockets = new Set<Socket>();
  private sent: Buffer[] = [];

  private constructor(http: Server) {
    this.listener = createServer((socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      this.record(socket);
      http.emit('connection', socket);
    });
  }

  static async open(http: Server): Promise<RecordedPort> {
    const port = new RecordedPort(http);
    await new Promise<void>((resolve) => void port.listener.listen(0, '127.0.0.1', resolve));
    return port;
  }

  get host(): string {
    return `127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  connect(site?: TestSite): Promise<TestConnection> {
    return TestConnection.connect(`ws://${this.host}/sync`, site);
  }

  readonly ask: Ask = (...request) => askServer(this.host, ...request);

  /** Returns the bytes sent since the last call. */
  take(): Buffer {
    return Buffer.concat(this.sent.splice(0));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.listener.close(() => resolve()));
  }

  /** `write` and `end` both call one of these two, so all output of a stream passes here. */
  private record(socket: Socket): void {
    const keep = (chunk: Buffer | string, encoding: BufferEncoding): void =>
      void this.sent.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk));
    const [writeOne, writeSeveral] = [socket._write.bind(socket), socket._writev?.bind(socket)];
    socket._write = (chunk: Buffer | string, encoding, done) => {
      keep(chunk, encoding);
      writeOne(chunk, encoding, done);
    };
    socket._writev = (chunks, done) => {
      for (const { chunk, encoding } of chunks as { chunk: Buffer | string; encoding: BufferEncoding }[])
        keep(chunk, encoding);
      writeSeveral?.(chunks, done);
    };
  }
}
