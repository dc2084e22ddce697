/** The connection of a session: a WebSocket, or plain HTTP requests. */
export interface SessionSocket {
  send(frame: Uint8Array): void;
  /** Bytes that were sent but that the network has not taken yet. */
  unreadBytes(): number;
  /** Calls `onDrained` once when no byte is unread. Call it only with more than 64 KiB unread. */
  whenDrained(onDrained: () => void): void;
  /** Stops reading, so that later messages wait at the client. */
  pause(): void;
  resume(): void;
  /** Starts a closing handshake, and cuts the connection if it takes too long. `reason`: at most 123 bytes. */
  close(code: number, reason: string): void;
  /** Cuts the connection at once. */
  terminate(): void;
}
