import {
  decodeServerMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  toRockpoolError,
  type ClientMessage,
  type ErrorData,
  type ServerMessage,
} from '@rockpool/shared';
import type { Transport } from '../../rpc/transport.ts';
import { OutgoingFrames } from './outgoing-frames.ts';

/** One connection to a server, which carries messages. After `onFailed` it calls nothing. */
export interface ServerConnection {
  send(message: ClientMessage): void;
  /** Bytes passed to `send` that have not been sent yet. */
  readonly bufferedBytes: number;
  close(): void;
}

export interface ServerConnectionEvents {
  onOpen(): void;
  onMessage(message: ServerMessage): void;
  /** A part of a message has arrived. */
  onPart?(): void;
  onFailed(error: ErrorData): void;
}

/** Opens a connection. Simulations replace it. */
export type Connect = (url: string, events: ServerConnectionEvents) => ServerConnection;

/** Sends and receives messages as frames of a transport. A malformed or too large message ends the connection. */
export function connectOver(transport: Transport): Connect {
  return (url, events) => {
    const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
    const connection = transport.connect(url, {
      onOpen: () => events.onOpen(),
      onFrame(frame) {
        let message: ServerMessage | null;
        try {
          const whole = assembler.add(frame);
          message = whole && decodeServerMessage(whole);
        } catch (thrown) {
          connection.close();
          return events.onFailed(toRockpoolError(thrown).toData());
        }
        if (message === null) events.onPart?.();
        else events.onMessage(message);
      },
      onClosed: (error) => events.onFailed(error.toData()),
    });
    const outgoing = new OutgoingFrames((frame) => connection.send(frame));
    return {
      send: (message) => outgoing.send(message),
      get bufferedBytes(): number {
        return connection.bufferedBytes;
      },
      close: () => connection.close(),
    };
  };
}
