import { CHANNEL_PROTOCOL, type BroadcastMessage, type ChannelMessage, type DirectMessage } from './channel-message.ts';

/** The part of BroadcastChannel that is used. */
export interface BroadcastPort {
  postMessage(message: unknown): void;
  close(): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/**
 * Exchanges messages with the other tabs of the database: with all of them on the channel `rockpool:<scope>`, and with
 * one on the channel with its id, so that a result is copied only to the tab that asked. A MessagePort would do the
 * same, but only a SharedWorker can pass one between tabs, and not every browser has SharedWorker.
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
  /** Called when a tab uses a newer protocol: this tab is outdated and must close. */
  readonly onNewerProtocol: (protocol: number) => void;
}

interface Envelope {
  readonly rockpool: number;
  readonly message: ChannelMessage;
}

/**
 * The maximum number of ports to other tabs that stay open. A limit is needed because tabs close without notice; a
 * dropped port is reopened on demand.
 */
const KEPT_PORTS = 32;

/**
 * Adds the protocol number to every message and reads it first. Ignores messages of an older protocol: that tab
 * receives a message from this one and closes.
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
    if (!isEnvelope(data)) return; // Any code of the origin can use the channel's name, so messages are validated.
    if (data.rockpool > CHANNEL_PROTOCOL) options.onNewerProtocol(data.rockpool);
    else if (data.rockpool === CHANNEL_PROTOCOL) options.onMessage(data.message);
  }
  all.onmessage = receive;
  mine.onmessage = receive;

  function portTo(id: string): BroadcastPort {
    const port = portsByTab.get(id) ?? openPort(directName(id));
    // Keeps the most recently used port last.
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
