import { once } from 'node:events';
import { request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from './addresses.ts';
import { slowMessages, slowMs } from './slow-messages.ts';

/** The path of the sync socket, and of everything that the client requests from the sync server by HTTP. */
const SYNC_PATH = '/sync/';

/**
 * A proxy between one browser and the server that can cut and observe the network. Chromium's own "offline" mode stalls
 * open WebSockets instead of ending them, so connections are cut here. Playwright also breaks WebSockets in workers
 * whose script it has served, so scripts that need a different clock are changed here too.
 */
/** A request that reached the server. */
export interface Answered {
  readonly path: string;
  readonly status: number;
  /** Empty if the body was not compressed. */
  readonly contentEncoding: string;
}

export interface Gateway {
  readonly url: string;
  /** The HTTP requests so far, except those that the browser served from its cache. */
  readonly answered: readonly Answered[];
  /** Closes every connection and refuses new ones until `restore`. */
  cut(): void;
  restore(): void;
  /** The page and its files still load, but nothing syncs until `restore`, neither by WebSocket nor by plain HTTP. */
  refuseSync(): void;
  /**
   * The server appears to accept everything but sends no responses until `restore`: messages from the browser are
   * dropped on the way. `after-greeting` lets the first message of each connection through, so that the server sends
   * its greeting.
   */
  loseWhatIsSent(from: 'beginning' | 'after-greeting'): void;
  /**
   * Calls back once, as soon as this many more bytes of sync traffic have gone from the browser to the server; later
   * bytes are dropped.
   */
  afterSyncBytesUp(byteCount: number, onReached: () => void): void;
  /**
   * Sends the browser a whole WebSocket message that the server never sent. Call this only while the server is silent;
   * otherwise the message could land inside one of the server's frames.
   */
  injectFrame(payload: Uint8Array): void;
  /** Sends the rest of every database file that `holdsSnapshots` holds. */
  releaseSnapshots(): void;
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly serverPort: number;
  /** A server that already listens and stays open when the gateway closes. Default: a port of its own. */
  readonly at?: Server;
  /** Prepended to every script, in pages and in workers. */
  readonly scriptPrefix?: string;
  /**
   * Sends only the first half of a database file that a new device downloads, until `releaseSnapshots`, and waits for a
   * file that is being built. On a busy machine, a page otherwise receives a whole file before it renders, or opens an
   * empty budget because the file is not built within three seconds.
   */
  readonly holdsSnapshots?: boolean;
}

export async function openGateway({
  serverPort,
  at,
  scriptPrefix: prefix,
  holdsSnapshots = false,
}: GatewayOptions): Promise<Gateway> {
  const scriptPrefix = slowMs > 0 ? slowMessages(slowMs) + (prefix ?? '') : prefix;
  const answered: Answered[] = [];
  const sockets = new Set<Socket>();
  const syncSockets = new Set<Duplex>();
  const syncAnswers = new Set<ServerResponse>();
  const released = Promise.withResolvers<void>();
  if (!holdsSnapshots) released.resolve();
  let network: 'whole' | 'without-sync' | 'cut' = 'whole';
  let dropping: 'nothing' | 'beginning' | 'after-greeting' = 'nothing';
  let watch: { remaining: number; readonly onReached: () => void } | undefined;

  const forwardUp = (chunk: Buffer, serverSide: Socket): void => {
    if (watch === undefined) return void serverSide.write(chunk);
    // Bytes beyond the limit are dropped, so that the kill falls in the middle of a message.
    serverSide.write(chunk.subarray(0, watch.remaining));
    watch.remaining -= chunk.length;
    if (watch.remaining > 0) return;
    const { onReached } = watch;
    watch = undefined;
    onReached();
  };

  /** Returns the part of the connection's next bytes that is forwarded to the server. */
  const createDropFilter = (): ((chunk: Buffer) => Buffer) => {
    let greetingBytesLeft: number | null = null;
    return (chunk) => {
      if (dropping === 'nothing') greetingBytesLeft = 0;
      if (dropping !== 'after-greeting') return dropping === 'nothing' ? chunk : Buffer.alloc(0);
      greetingBytesLeft ??= maskedFrameBytes(chunk);
      const forwarded = chunk.subarray(0, greetingBytesLeft);
      greetingBytesLeft -= forwarded.length;
      return forwarded;
    };
  };

  const server = at ?? (await listen());
  const onRequest = (incoming: IncomingMessage, answer: ServerResponse): void => {
    if (incoming.url?.startsWith(SYNC_PATH) === true) {
      if (network === 'without-sync') return void answer.destroy();
      syncAnswers.add(answer);
      answer.once('close', () => syncAnswers.delete(answer));
    }
    const options = { serverPort, scriptPrefix, answered, holdsSnapshots, released: released.promise };
    if (slowMs === 0) forward(incoming, answer, options);
    else setTimeout(() => forward(incoming, answer, options), slowMs);
  };
  const onConnection = (socket: Socket): void => {
    if (network === 'cut') return void socket.destroy();
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const onUpgrade = (incoming: IncomingMessage, browserSide: Duplex, head: Buffer): void => {
    if (network !== 'whole') return void browserSide.destroy();
    const serverSide = connect(serverPort, '127.0.0.1');
    syncSockets.add(browserSide);
    for (const side of [browserSide, serverSide]) side.on('error', () => side.destroy());
    serverSide.once('close', () => browserSide.end()); // sends the remaining bytes first
    browserSide.once('close', () => {
      syncSockets.delete(browserSide);
      serverSide.end();
    });
    serverSide.write(requestHead(incoming));
    serverSide.write(head);
    const lose = createDropFilter();
    browserSide.on('data', (chunk: Buffer) => forwardUp(lose(chunk), serverSide));
    serverSide.pipe(browserSide);
  };
  server.on('connection', onConnection).on('request', onRequest).on('upgrade', onUpgrade);
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/`,
    answered,
    cut() {
      network = 'cut';
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      network = 'whole';
      if (dropping === 'nothing') return;
      dropping = 'nothing';
      // These connections have delivered only part of their messages to the server.
      for (const socket of syncSockets) socket.destroy();
    },
    loseWhatIsSent(from) {
      dropping = from;
    },
    refuseSync() {
      network = 'without-sync';
      for (const one of [...syncSockets, ...syncAnswers]) one.destroy();
    },
    afterSyncBytesUp(byteCount, onReached) {
      watch = { remaining: byteCount, onReached };
    },
    injectFrame(payload) {
      if (payload.length > 125)
        throw new Error(
          `A frame of ${payload.length} bytes needs an extended length header, which injectFrame does not write`,
        );
      // FIN bit set, binary opcode; server frames are not masked
      const head = Buffer.from([0x80 | 0x02, payload.length]);
      for (const socket of syncSockets) socket.write(Buffer.concat([head, payload]));
    },
    releaseSnapshots: released.resolve,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.off('connection', onConnection).off('request', onRequest).off('upgrade', onUpgrade);
      if (at !== undefined) return;
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  {
    serverPort,
    scriptPrefix,
    answered,
    holdsSnapshots,
    released,
  }: {
    readonly serverPort: number;
    readonly scriptPrefix: string | undefined;
    readonly answered: Answered[];
    readonly holdsSnapshots: boolean;
    /** Resolves when the second half of a database file may be sent. */
    readonly released: Promise<void>;
  },
): void {
  const outgoing = request(
    {
      port: serverPort,
      host: '127.0.0.1',
      method: incoming.method,
      // Without `waitMs`, the server responds once the file is built.
      path: holdsSnapshots ? incoming.url?.replace(/&waitMs=\d+/, '') : incoming.url,
      // The prefix can be prepended only to an uncompressed script.
      headers: scriptPrefix === undefined ? incoming.headers : { ...incoming.headers, 'accept-encoding': 'identity' },
    },
    (response) => {
      answered.push({
        path: incoming.url ?? '',
        status: response.statusCode ?? 0,
        contentEncoding: response.headers['content-encoding'] ?? '',
      });
      const isScript = response.headers['content-type']?.startsWith('text/javascript') === true;
      if (scriptPrefix === undefined || !isScript) {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        const isSnapshot = incoming.url?.includes('/snapshot?') === true && response.statusCode === 200;
        if (isSnapshot) void sendInHalves(response, answer, released);
        else response.pipe(answer);
        return;
      }
      const prefix = Buffer.from(scriptPrefix);
      const sizeBytes = Number(response.headers['content-length']) + prefix.length;
      answer.writeHead(response.statusCode ?? 502, { ...response.headers, 'content-length': sizeBytes });
      answer.write(prefix);
      response.pipe(answer);
    },
  );
  // A killed server refuses connections; the browser sees that as a broken network.
  outgoing.on('error', () => answer.destroy());
  incoming.pipe(outgoing);
}

async function sendInHalves(response: IncomingMessage, answer: ServerResponse, released: Promise<void>): Promise<void> {
  const halfBytes = Number(response.headers['content-length']) / 2;
  let sentBytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const firstBytes = Math.max(0, Math.ceil(halfBytes) - sentBytes);
      if (firstBytes > 0) answer.write(chunk.subarray(0, firstBytes));
      sentBytes += chunk.length;
      if (sentBytes <= halfBytes) continue;
      await released;
      answer.write(chunk.subarray(firstBytes));
    }
    answer.end();
  } catch {
    answer.destroy(); // The server or the browser closed its connection.
  }
}

function requestHead({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Length of the WebSocket frame at the start of a browser's bytes, including header and mask. */
function maskedFrameBytes(chunk: Buffer): number {
  const length = (chunk[1] ?? 0) & 0x7f;
  if (length < 126) return 6 + length;
  return length === 126 ? 8 + chunk.readUInt16BE(2) : 14 + Number(chunk.readBigUInt64BE(2));
}
