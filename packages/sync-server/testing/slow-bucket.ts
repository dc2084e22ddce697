import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A bucket in memory that answers the S3 requests of a backup without checking their signatures. The test decides when
 * an object may be read. The contract of destinations runs against a complete implementation.
 */
export class SlowBucket {
  readonly url: string;
  /** The keys of page objects, in the order of their reads. */
  readonly reads: string[] = [];
  private readonly server: Server;
  private readonly objects: Map<string, Buffer>;
  private isHeld: (key: string) => boolean = () => false;
  private readonly waiting: (() => void)[] = [];

  private constructor(server: Server, objects: Map<string, Buffer>, url: string) {
    this.server = server;
    this.objects = objects;
    this.url = url;
  }

  static async start(): Promise<SlowBucket> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const bucket = new SlowBucket(server, new Map(), `http://127.0.0.1:${port}`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => bucket.answer(request.method ?? '', request.url ?? '', Buffer.concat(chunks), response));
    });
    return bucket;
  }

  /** Holds reads of page objects: by default, of all. Requests for several objects arrive in any order. */
  hold(isHeld: (key: string) => boolean = () => true): void {
    this.isHeld = isHeld;
  }

  get held(): number {
    return this.waiting.length;
  }

  release(): void {
    this.isHeld = () => false;
    for (const resume of this.waiting.splice(0)) resume();
  }

  async stop(): Promise<void> {
    this.release();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(method: string, url: string, body: Buffer, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, this.url);
    const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
    if (method === 'PUT') this.objects.set(key, body);
    if (method === 'GET' && searchParams.has('list-type')) {
      response.end(this.listing(searchParams.get('prefix') ?? ''));
      return;
    }
    if (method === 'POST')
      for (const [, gone = ''] of body.toString().matchAll(/<Key>(.*?)<\/Key>/g)) this.objects.delete(gone);
    if (method === 'DELETE') this.objects.delete(key);
    if (method !== 'GET') {
      response.end('<DeleteResult></DeleteResult>');
      return;
    }
    const send = (): void => {
      const found = this.objects.get(key);
      response.statusCode = found === undefined ? 404 : 200;
      response.end(found ?? '<Error><Code>NoSuchKey</Code></Error>');
    };
    if (!key.includes('/databases/')) return send();
    this.reads.push(key);
    if (this.isHeld(key)) this.waiting.push(send);
    else send();
  }

  private listing(prefix: string): string {
    const found = [...this.objects].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
    const contents = found.map(([key, { length }]) => `<Contents><Key>${key}</Key><Size>${length}</Size></Contents>`);
    return `<ListBucketResult>${contents.join('')}<IsTruncated>false</IsTruncated></ListBucketResult>`;
  }
}
