import { CHANNEL_PROTOCOL, type BroadcastMessage, type ChannelMessage, type DirectMessage } from './channel-message.ts';

/** What this needs of a BroadcastChannel. */
export interface BroadcastPort {
  postMessage(message: unknown): void;
  close(): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/**
 * Speaks with the other tabs of the database: with all of them on the channel `rockpool:<scope>`, and with one on the
 * channel that bears its id. So a result is copied to the tab that asked and to no other. A MessagePort would do the
 * same, but only a SharedWorker can bring one from tab to tab, and not every browser has that.
 */
export interface TabChannel {
  post(message: BroadcastMessage): void;
  send(tabId: string, message: DirectMessage): void;
  close(): void;
}

export interface TabChannelOptions {
  readonly scope: string;
  readonly tabId: string;
  readonly openPort: (channelName: string) => BroadcastPort;
  readonly onMessage: (message: ChannelMessage) => void;
  /** A tab speaks a newer protocol: this one is outdated and has to make room for it. */
  readonly onNewerProtocol: (protocol: number) => void;
}

interface Envelope {
  readonly rockpool: number;
  readonly message: ChannelMessage;
}

/**
 * Ports to other tabs that are kept open. Tabs go without a word, so it needs a bound; one that is dropped is opened
 * again.
 */
const KEPT_PORTS = 32;

/**
 * Puts the protocol number on every message and reads it first. Messages of an older protocol are passed over: that tab
 * hears from this one and ends by itself.
 */
export function openTabChannel(options: TabChannelOptions): TabChannel {
  const { scope, tabId, openPort } = options;
  const all = openPort(`rockpool:${scope}`);
  const mine = openPort(directName(tabId));
  const portsByTab = new Map<string, BroadcastPort>();

  function directName(id: string): string {
    return `rockpool:${scope}:${id}`;
  }

  function receive({ data }: MessageEvent): void {
    if (!isEnvelope(data)) return; // The channel's name is open to the whole origin.
    if (data.rockpool > CHANNEL_PROTOCOL) options.onNewerProtocol(data.rockpool);
    else if (data.rockpool === CHANNEL_PROTOCOL) options.onMessage(data.message);
  }
  all.onmessage = receive;
  mine.onmessage = receive;

  function portTo(id: string): BroadcastPort {
    const port = portsByTab.get(id) ?? openPort(directName(id));
    // The one used last stands last.
    portsByTab.delete(id);
    portsByTab.set(id, port);
    const [oldest] = portsByTab;
    if (portsByTab.size > KEPT_PORTS && oldest !== undefined) {
      oldest[1].close();
      portsByTab.delete(oldest[0]);
    }
    return port;
  }

  return {
    post: (message) => all.postMessage({ rockpool: CHANNEL_PROTOCOL, message } satisfies Envelope),
    send: (id, message) => portTo(id).postMessage({ rockpool: CHANNEL_PROTOCOL, message } satisfies Envelope),
    close: () => {
      for (const port of [all, mine, ...portsByTab.values()]) {
        port.onmessage = null;
        port.close();
      }
    },
  };
}

function isEnvelope(data: unknown): data is Envelope {
  return (
    typeof data === 'object' &&
    data !== null &&
    'rockpool' in data &&
    typeof data.rockpool === 'number' &&
    'message' in data
  );
}
