import { RockpoolError } from '@rockpool/shared';
import type { Transport } from '../../rpc/transport.ts';

// The part of WebSocket that is used, so that this file does not depend on the DOM types.
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

export const webSocketTransport: Transport = {
  connect(url, events) {
    const socket = new WebSocket(url) as unknown as Socket;
    socket.binaryType = 'arraybuffer';
    let ended = false;
    const fail = (error: RockpoolError): void => {
      if (ended) return;
      ended = true;
      socket.close();
      events.onClosed(error);
    };
    socket.onopen = (): void => {
      if (!ended) events.onOpen();
    };
    socket.onmessage = ({ data }): void => {
      if (ended) return;
      if (data instanceof ArrayBuffer) events.onFrame(new Uint8Array(data));
      else fail(new RockpoolError('frame-invalid', { problem: 'the server sent a text frame' }));
    };
    // Browsers do not report to a page why a connection failed; `error` is always followed by `close`.
    socket.onclose = ({ code }): void =>
      fail(new RockpoolError('network-unreachable', { stage: 'socket', closeCode: code }));
    return {
      send(frame): void {
        if (!ended && socket.readyState === OPEN) socket.send(frame);
      },
      get bufferedBytes(): number {
        return socket.bufferedAmount;
      },
      close(): void {
        ended = true;
        socket.close();
      },
    };
  },
};
