import {
  decodeServerMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  RockpoolError,
  toRockpoolError,
  type ClientMessage,
  type ErrorData,
  type ServerMessage,
} from '@rockpool/shared';
import { OutgoingFrames } from './outgoing-frames.ts';

/** One connection to a server, in messages. No calls follow `onFailed`. */
export interface ServerConnection {
  send(message: ClientMessage): void;
  /** Bytes passed to `send` that have not left yet. */
  readonly bufferedBytes: number;
  close(): void;
}

export interface ServerConnectionEvents {
  onOpen(): void;
  onMessage(message: ServerMessage): void;
  onFailed(error: ErrorData): void;
}

/** Opens a connection. Simulations replace it. */
export type Connect = (url: string, events: ServerConnectionEvents) => ServerConnection;

// The whole surface of WebSocket that is used here, so that this file needs no DOM.
interface Socket {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number }) => void) | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(): void;
}
const OPEN = 1;

export const connectWebSocket: Connect = (url, events) => {
  const socket = new WebSocket(url) as unknown as Socket;
  socket.binaryType = 'arraybuffer';
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  let ended = false;
  const outgoing = new OutgoingFrames((frame) => {
    if (!ended && socket.readyState === OPEN) socket.send(frame);
  });
  const fail = (error: RockpoolError): void => {
    if (ended) return;
    ended = true;
    socket.close();
    events.onFailed(error.toData());
  };
  socket.onopen = (): void => {
    if (!ended) events.onOpen();
  };
  socket.onmessage = ({ data }): void => {
    if (ended) return;
    let message: ServerMessage | null;
    try {
      if (!(data instanceof ArrayBuffer)) throw new RockpoolError('frame-invalid', { problem: 'text frame' });
      const whole = assembler.add(new Uint8Array(data));
      message = whole === null ? null : decodeServerMessage(whole);
    } catch (thrown) {
      fail(toRockpoolError(thrown));
      return;
    }
    if (message !== null) events.onMessage(message);
  };
  // Browsers tell a page nothing about why a connection failed; `error` is always followed by `close`.
  socket.onclose = ({ code }): void =>
    fail(new RockpoolError('network-unreachable', { stage: 'socket', closeCode: code }));
  return {
    send: (message) => outgoing.send(message),
    get bufferedBytes(): number {
      return socket.bufferedAmount;
    },
    close(): void {
      ended = true;
      socket.close();
    },
  };
};
