import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';

/** Client to server after a silence; the server responds at once. Pages in browsers cannot send WebSocket pings. */
export interface Ping {
  readonly type: 'ping';
}

export interface Pong {
  readonly type: 'pong';
  /** The server's clock, as in Welcome. It is sent again because a clock can be set while a client is connected. */
  readonly serverNowMs: number;
}

export function writePong(writer: ByteWriter, { serverNowMs }: Pong): void {
  writer.varint(serverNowMs);
}

export function readPong(reader: ByteReader): Pong {
  return { type: 'pong', serverNowMs: reader.varint() };
}
