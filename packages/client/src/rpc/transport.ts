import type { RockpoolError } from '@rockpool/shared';

/**
 * How sync reaches the server:
 * - `websocket`: a WebSocket
 * - `http`: plain HTTP requests, one of which is always open for messages of the server
 * - `auto`: WebSockets, and HTTP while WebSockets do not open, as behind some company proxies
 */
export type TransportName = 'auto' | 'websocket' | 'http';

/**
 * Carries frames between one client and one server. A frame has up to 256 KiB, which the transport does not interpret.
 * Connections are independent: after one ends, the client opens the next one.
 */
export interface Transport {
  /**
   * Opens a connection. Events are called only after it has returned. Never throws: a failure is reported by
   * `onClosed`.
   */
  connect(url: string, events: TransportEvents): TransportConnection;
  /**
   * Requests a file, such as a snapshot. `path` is appended to the URL of the server and begins with a slash. Default:
   * HTTP to that URL.
   */
  readonly request?: (path: string, init: RequestInit) => Promise<Response>;
}

/** The events of one connection, in this order. None follows `onClosed` or a call of `close`. */
export interface TransportEvents {
  /** Called when the server has accepted the connection, at most once. */
  onOpen(): void;
  /** Receives a frame from the server: whole, once, and in the order of sending. The receiver may keep the bytes. */
  onFrame(frame: Uint8Array): void;
  /**
   * Called when the connection has failed or the server has ended it, after all frames that arrived before. Called at
   * most once, with `network-unreachable` and, if the server gave one, its `closeCode`.
   */
  onClosed(error: RockpoolError): void;
}

/** The client's end of one connection. */
export interface TransportConnection {
  /**
   * Sends a frame after all earlier ones. May be called from `onOpen` on. The frame arrives whole or the connection
   * ends; after its end, frames are dropped. The caller must not change the bytes afterwards.
   */
  send(frame: Uint8Array<ArrayBuffer>): void;
  /**
   * Bytes of frames that have not been sent yet, because the network or the server is slow. Whenever the number falls,
   * the deadlines of the connection restart.
   */
  readonly bufferedBytes: number;
  /** Ends the connection, which the server notices. May be called more than once. */
  close(): void;
}
