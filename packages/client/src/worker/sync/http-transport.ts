import { ByteReader, ByteWriter, RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Transport, TransportConnection, TransportEvents } from '../../rpc/transport.ts';

/** The maximum size of a request with several frames. It is below the server's limit (1 MiB). */
const REQUEST_BYTES = 512 * 1024;

/**
 * Transfers the same frames by HTTP requests if WebSockets are blocked: some requests send, and one at a time waits for
 * messages.
 */
export const httpTransport: Transport = { connect: (url, events) => new HttpConnection(url, events) };

class HttpConnection implements TransportConnection {
  private readonly base: string;
  private readonly events: TransportEvents;
  private readonly stop = new AbortController();
  /** The address of the session; empty until it is open. */
  private address = '';
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
    const { sessionId } = (await (await this.request('POST', this.base)).json()) as { sessionId: string };
    this.address = `${this.base}/${encodeURIComponent(sessionId)}`;
    if (this.stop.signal.aborted) return;
    this.events.onOpen();
    while (!this.stop.signal.aborted) await this.poll();
  }

  private async poll(): Promise<void> {
    const response = await this.request('GET', this.address);
    const reader = new ByteReader(new Uint8Array(await response.arrayBuffer()), 'frame-invalid');
    while (reader.remaining > 0) {
      const frame = reader.lengthPrefixed().slice();
      if (!this.stop.signal.aborted) this.events.onFrame(frame);
    }
    const closed = response.headers.get('rockpool-close');
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
      this.waiting = this.waiting.slice(count);
      await this.request('POST', this.address, writer.finish());
    }
    this.isSending = false;
  }

  private async request(method: string, to: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const response = await fetch(to, {
      method,
      cache: 'no-store',
      signal: this.stop.signal,
      ...(body !== undefined && { body }),
    }).catch(() => null);
    if (response === null || !response.ok)
      throw new RockpoolError('network-unreachable', { stage: 'http', status: response?.status ?? 0 });
    return response;
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
