import {
  decodeServerMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  toRockpoolError,
  type ClientMessage,
  type ErrorData,
  type RockpoolError,
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
  onFailed(error: ErrorData): void;
}

/** Opens a connection. Simulations replace it. */
export type Connect = (url: string, events: ServerConnectionEvents) => ServerConnection;

/** Sends and receives messages as frames of a transport. A malformed or too large message ends the connection. */
export function connectOver(transport: Transport): Connect {
  return (url, events) => {
    const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
    let isOver = false;
    const fail = (error: RockpoolError): void => {
      if (isOver) return;
      isOver = true;
      connection.close();
      events.onFailed(error.toData());
    };
    const connection = transport.connect(url, {
      onOpen() {
        if (!isOver) events.onOpen();
      },
      onFrame(frame) {
        if (isOver) return;
        let message: ServerMessage | null;
        try {
          const whole = assembler.add(frame);
          message = whole === null ? null : decodeServerMessage(whole);
        } catch (thrown) {
          return fail(toRockpoolError(thrown));
        }
        if (message !== null) events.onMessage(message);
      },
      onClosed: fail,
    });
    const outgoing = new OutgoingFrames((frame) => {
      if (!isOver) connection.send(frame);
    });
    return {
      send: (message) => outgoing.send(message),
      get bufferedBytes(): number {
        return connection.bufferedBytes;
      },
      close(): void {
        isOver = true;
        connection.close();
      },
    };
  };
}
