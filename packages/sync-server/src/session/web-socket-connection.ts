import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { SessionSocket } from './session-socket.ts';
import { webSocketFrame } from './web-socket-frame.ts';

/** A client that does not answer the closing handshake is disconnected after this time. */
const CLOSE_PATIENCE_MS = 5_000;

/** An uncompressed WebSocket as the connection of a session. */
export class WebSocketConnection implements SessionSocket {
  private readonly webSocket: WebSocket;
  private readonly stream: Duplex;

  /** `stream` is the connection below the WebSocket. */
  constructor(webSocket: WebSocket, stream: Duplex) {
    this.webSocket = webSocket;
    this.stream = stream;
  }

  send(frame: Uint8Array): void {
    if (!this.isOpen) return;
    const bytes = webSocketFrame(frame);
    if (bytes === undefined) this.webSocket.send(frame);
    else this.stream.write(bytes);
  }

  unreadBytes(): number {
    return this.webSocket.bufferedAmount;
  }

  whenDrained(onDrained: () => void): void {
    // Emitted after a write that exceeded the high-water mark, at most 64 KiB.
    this.stream.once('drain', onDrained);
  }

  pause(): void {
    if (this.isOpen) this.webSocket.pause();
  }

  resume(): void {
    if (this.isOpen) this.webSocket.resume();
  }

  close(code: number, reason: string): void {
    this.webSocket.resume(); // Otherwise the response to the closing handshake would never be read.
    this.webSocket.close(code, reason);
    const timer = setTimeout(() => this.webSocket.terminate(), CLOSE_PATIENCE_MS).unref();
    this.webSocket.once('close', () => clearTimeout(timer)); // Otherwise it would keep the socket in memory.
  }

  terminate(): void {
    this.webSocket.terminate();
  }

  private get isOpen(): boolean {
    return this.webSocket.readyState === WebSocket.OPEN;
  }
}
