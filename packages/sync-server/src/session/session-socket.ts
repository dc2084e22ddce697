/** The connection of a session: a WebSocket, or plain HTTP requests. */
export interface SessionSocket {
  send(frame: Uint8Array): void;
  /** Bytes sent but not yet taken by the network. */
  unreadBytes(): number;
  /** Stops reading, so that the client's messages wait at the client. */
  pause(): void;
  resume(): void;
  /** Starts a closing handshake, and cuts the connection if it takes too long. `reason`: at most 123 bytes. */
  close(code: number, reason: string): void;
  /** Cuts the connection at once. */
  terminate(): void;
}
