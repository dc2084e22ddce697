import type { ClientMessage, ServerMessage } from '#shared/index.ts';

/** A recorded frame of a released protocol version, with its decoded message. */
export interface RecordedFrame {
  readonly side: 'client' | 'server';
  /** The whole WebSocket message, in hex. */
  readonly frame: string;
  /** The message, with integers and bytes tagged: `{ "$int": "5" }`, `{ "$bytes": "00ff" }`. */
  readonly message: unknown;
}

export function toRecordable(message: ClientMessage | ServerMessage): unknown {
  return JSON.parse(
    JSON.stringify(message, (_key, value: unknown) => {
      if (typeof value === 'bigint') return { $int: String(value) };
      if (value instanceof Uint8Array) return { $bytes: toHex(value) };
      return value;
    }),
  ) as unknown;
}

export function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
