import { ByteReader, ByteWriter, RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Transport, TransportConnection, TransportEvents } from '../../rpc/transport.ts';

/** The maximum size of a request with several frames. It is below the server's limit (1 MiB). */
const REQUEST_BYTES = 512 * 1024;

/** A complete response with a 2xx status. */
interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Transfers the same frames by HTTP requests if WebSockets are blocked: some requests send frames, and one request at a
 * time waits for messages.
 */
export const httpTransport: Transport = { connect: (url, events) => new HttpConnection(url, events) };

class HttpConnection implements TransportConnection {
  private readonly base: string;
  private readonly events: TransportEvents;
  private readonly stop = new AbortController();
  /** The address of the session; empty until it is open. */
  private address = '';
  /** The number of frames that have arrived. */
  private received = 0;
  /** The number of frames that the server has taken. */
  private sent = 0;
  private waiting: Uint8Array[] = [];
  private isSending = false;

  constructor(url: string, events: TransportEvents) {
    this.base = `${url.replace(/^ws/, 'http')}/sessions`;
    this.events = events;
    this.guarded(() => this.open());
  }

  send(frame: Uint8Array): void {
    if (this.stop.signal.aborted) return;
    this.waiting.push(frame);
    this.guarded(() => this.sendWaiting());
  }

  get bufferedBytes(): number {
    return this.waiting.reduce((sum, { length }) => sum + length, 0);
  }

  close(): void {
    if (this.stop.signal.aborted) return;
    this.stop.abort();
    // Ends the session before its timeout. The request is sent even while the page closes.
    if (this.address !== '') void fetch(this.address, { method: 'DELETE', keepalive: true }).catch(() => undefined);
  }

  private async open(): Promise<void> {
    const received = await this.request('POST', this.base);
    const sessionId = sessionIdOf(received);
    if (sessionId === null) throw unreachable(received.status);
    this.address = `${this.base}/${encodeURIComponent(sessionId)}`;
    if (this.stop.signal.aborted) return;
    this.events.onOpen();
    while (!this.stop.signal.aborted) await this.poll();
  }

  private async poll(): Promise<void> {
    // A browser or a proxy may repeat a request, so the server keeps each frame until it is counted here.
    const { bytes, headers } = await this.request('GET', `${this.address}?received=${this.received}`);
    const reader = new ByteReader(bytes, 'frame-invalid');
    while (reader.remaining > 0) {
      const frame = reader.lengthPrefixed().slice();
      this.received++;
      if (!this.stop.signal.aborted) this.events.onFrame(frame);
    }
    const closed = headers.get('rockpool-close');
    // The close code, a space, and the reason.
    if (closed !== null)
      throw new RockpoolError('network-unreachable', { stage: 'http', closeCode: Number.parseInt(closed, 10) });
  }

  private async sendWaiting(): Promise<void> {
    if (this.isSending || this.address === '') return;
    this.isSending = true;
    while (this.waiting.length > 0 && !this.stop.signal.aborted) {
      const writer = new ByteWriter();
      let count = 0;
      for (const frame of this.waiting) {
        if (count > 0 && writer.byteLength + frame.length > REQUEST_BYTES) break;
        writer.lengthPrefixed(frame);
        count++;
      }
      // Shows the server which frames a repeated request has in common with the first one.
      await this.request('POST', `${this.address}?sent=${this.sent}`, writer.finish());
      this.sent += count;
      // Not earlier: how much of a request the network has taken is unknown.
      this.waiting = this.waiting.slice(count);
    }
    this.isSending = false;
  }

  /** Reads the body as well, because the connection can be cut in the middle of it. */
  private async request(method: string, to: string, body?: Uint8Array<ArrayBuffer>): Promise<Received> {
    let status = 0;
    try {
      const response = await fetch(to, {
        method,
        cache: 'no-store',
        signal: this.stop.signal,
        ...(body !== undefined && { body }),
      });
      const { headers, ok } = response;
      status = response.status;
      // The server sends no HTML, so a page comes from a proxy, such as one that asks to sign in to the network.
      if (ok && headers.get('content-type')?.startsWith('text/html') !== true)
        return { status, headers, bytes: new Uint8Array(await response.arrayBuffer()) };
    } catch {
      // A browser does not report to a page why a request failed.
    }
    throw unreachable(status);
  }

  private guarded(work: () => Promise<void>): void {
    work().catch((thrown: unknown) => this.fail(toRockpoolError(thrown)));
  }

  private fail(error: RockpoolError): void {
    if (this.stop.signal.aborted) return;
    this.stop.abort();
    this.events.onClosed(error);
  }
}

function unreachable(status: number): RockpoolError {
  return new RockpoolError('network-unreachable', { stage: 'http', status });
}

/** The id of the opened session; null if the response is not from a Rockpool server. */
function sessionIdOf({ bytes }: Received): string | null {
  try {
    const { sessionId } = JSON.parse(new TextDecoder().decode(bytes)) as { sessionId?: unknown };
    return typeof sessionId === 'string' ? sessionId : null;
  } catch {
    return null;
  }
}
