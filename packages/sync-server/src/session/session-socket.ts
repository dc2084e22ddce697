/** What a session needs of a WebSocket. */
export interface SessionSocket {
  send(frame: Uint8Array): void;
  /** Handed over and not yet taken by the network. */
  unreadBytes(): number;
  /** Stops and resumes reading: the client's sends then wait at the client. */
  pause(): void;
  resume(): void;
  /** A closing handshake; the connection is cut if it takes too long. `reason`: at most 123 bytes. */
  close(code: number, reason: string): void;
  /** Cuts the connection at once. */
  terminate(): void;
}
