import { CHANNEL_PROTOCOL, type ChannelMessage } from './channel-message.ts';

/** What this needs of a BroadcastChannel. */
export interface BroadcastPort {
  postMessage(message: unknown): void;
  close(): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** Speaks with all other tabs of the database. */
export interface TabChannel {
  post(message: ChannelMessage): void;
  close(): void;
}

export interface TabChannelEvents {
  onMessage(message: ChannelMessage): void;
  /** A tab speaks a newer protocol: this one is outdated and has to make room for it. */
  onNewerProtocol(protocol: number): void;
}

interface Envelope {
  readonly rockpool: number;
  readonly message: ChannelMessage;
}

/**
 * Puts the protocol number on every message and reads it first. Messages of an older protocol are passed over: that tab hears from this one
 * and ends by itself.
 */
export function openTabChannel(port: BroadcastPort, events: TabChannelEvents): TabChannel {
  port.onmessage = ({ data }: MessageEvent) => {
    if (!isEnvelope(data)) return; // The channel's name is open to the whole origin.
    if (data.rockpool > CHANNEL_PROTOCOL) events.onNewerProtocol(data.rockpool);
    else if (data.rockpool === CHANNEL_PROTOCOL) events.onMessage(data.message);
  };
  return {
    post: (message) => port.postMessage({ rockpool: CHANNEL_PROTOCOL, message } satisfies Envelope),
    close: () => {
      port.onmessage = null;
      port.close();
    },
  };
}

function isEnvelope(data: unknown): data is Envelope {
  return typeof data === 'object' && data !== null && 'rockpool' in data && typeof data.rockpool === 'number' && 'message' in data;
}
