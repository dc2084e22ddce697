import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SlowLine {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A proxy in front of the server that limits the download rate to `bitsPerSecond`, for all connections together. It
 * delays each chunk by half a round trip. It throttles pages, workers and service workers alike, which the browser's
 * own throttling does not.
 */
export async function openSlowLine(
  serverPort: number,
  { bitsPerSecond, roundTripMs }: { readonly bitsPerSecond: number; readonly roundTripMs: number },
): Promise<SlowLine> {
  const bytesPerMs = bitsPerSecond / 8 / 1000;
  const sockets = new Set<Socket>();
  let freeAtMs = 0;

  const server = createServer((browserSide) => {
    const serverSide = connect(serverPort, '127.0.0.1');
    for (const side of [browserSide, serverSide]) {
      sockets.add(side);
      side.setNoDelay();
      side.on('error', () => side.destroy());
      side.once('close', () => sockets.delete(side));
    }
    browserSide.on('data', (chunk) => void setTimeout(() => serverSide.write(chunk), roundTripMs / 2));
    serverSide.on('data', (chunk) => {
      const nowMs = performance.now();
      freeAtMs = Math.max(freeAtMs, nowMs) + chunk.length / bytesPerMs;
      serverSide.pause();
      setTimeout(() => serverSide.resume(), freeAtMs - nowMs);
      setTimeout(() => browserSide.write(chunk), freeAtMs - nowMs + roundTripMs / 2);
    });
    browserSide.once('close', () => serverSide.destroy());
    serverSide.once('close', () => void setTimeout(() => browserSide.end(), roundTripMs));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
