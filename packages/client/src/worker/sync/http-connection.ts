import {
  ByteReader,
  ByteWriter,
  decodeServerMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  RockpoolError,
  toRockpoolError,
} from '@rockpool/shared';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { Connect } from './web-socket.ts';

/** The size of one request: several frames, below the server's limit (1 MiB). */
const REQUEST_BYTES = 512 * 1024;

/**
 * Transfers the same frames by HTTP requests if WebSockets are blocked: some send, and one at a time waits for
 * messages.
 */
export const connectHttp: Connect = (url, events) => {
  const base = `${url.replace(/^ws/, 'http')}/sessions`;
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  const stop = new AbortController();
  let address = '';
  let waiting: Uint8Array[] = [];
  let isSending = false;

  const outgoing = new OutgoingFrames((frame) => {
    if (stop.signal.aborted) return;
    waiting.push(frame);
    guarded(sendWaiting);
  });

  const fail = (error: RockpoolError): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    events.onFailed(error.toData());
  };
  const request = async (method: string, to: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> => {
    const response = await fetch(to, {
      method,
      cache: 'no-store',
      signal: stop.signal,
      ...(body !== undefined && { body }),
    }).catch(() => null);
    if (response === null || !response.ok)
      throw new RockpoolError('network-unreachable', { stage: 'http', status: response?.status ?? 0 });
    return response;
  };
  const guarded = (work: () => Promise<void>): void =>
    void work().catch((thrown: unknown) => fail(toRockpoolError(thrown)));

  async function open(): Promise<void> {
    const { sessionId } = (await (await request('POST', base)).json()) as { sessionId: string };
    address = `${base}/${encodeURIComponent(sessionId)}`;
    if (stop.signal.aborted) return;
    events.onOpen();
    while (!stop.signal.aborted) await poll();
  }

  async function poll(): Promise<void> {
    const response = await request('GET', address);
    const reader = new ByteReader(new Uint8Array(await response.arrayBuffer()), 'frame-invalid');
    while (reader.remaining > 0) {
      const whole = assembler.add(reader.lengthPrefixed().slice());
      if (whole !== null && !stop.signal.aborted) events.onMessage(decodeServerMessage(whole));
    }
    const closed = response.headers.get('rockpool-close');
    if (closed !== null) throw new RockpoolError('network-unreachable', { stage: 'http', closed });
  }

  async function sendWaiting(): Promise<void> {
    if (isSending || address === '') return;
    isSending = true;
    while (waiting.length > 0 && !stop.signal.aborted) {
      const writer = new ByteWriter();
      let count = 0;
      for (const frame of waiting) {
        if (count > 0 && writer.byteLength + frame.length > REQUEST_BYTES) break;
        writer.lengthPrefixed(frame);
        count++;
      }
      waiting = waiting.slice(count);
      await request('POST', address, writer.finish());
    }
    isSending = false;
  }

  guarded(open);
  return {
    send: (message) => outgoing.send(message),
    get bufferedBytes(): number {
      return waiting.reduce((sum, { length }) => sum + length, 0);
    },
    close(): void {
      if (stop.signal.aborted) return;
      stop.abort();
      // Saves the server from waiting for the timeout. Sent even while the page closes.
      if (address !== '') void fetch(address, { method: 'DELETE', keepalive: true }).catch(() => undefined);
    },
  };
};
