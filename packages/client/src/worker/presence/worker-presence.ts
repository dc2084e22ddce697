import type { RockpoolError } from '@rockpool/shared';
import type { Clock } from '../leader/clock.ts';
import type { Locks } from '../leader/election.ts';
import { createLifeLocks } from '../leader/life-locks.ts';
import type { BroadcastPort } from '../leader/tab-channel.ts';
import type { OwnState, PeersUpdate } from '../../rpc/presence.ts';
import { SitePresence, type PresenceLine } from './site-presence.ts';

/*
 *   page ── show ──► this tab ── "show" ──► the tab that leads ──► server
 *   page ◄─ update ─ this tab ◄── "seen" ── the tab that leads ◄── server
 *
 * Tabs speak about presence on a channel of its own: nothing of it is kept, so nothing of it is asked for twice.
 * Whoever leads anew asks ("who"), and every tab says once more what it shows; a tab that goes lets go of its lock, and
 * the leader forgets it.
 */
type PresenceMessage =
  | {
      readonly kind: 'show';
      readonly tabId: string;
      readonly states: readonly OwnState[];
      /** The complete state of the tab; it does not know any peers yet. */ readonly isAll: boolean;
    }
  | { readonly kind: 'who' }
  | ({ readonly kind: 'seen' } & PeersUpdate);

/** Part of the channel's name, which separates tabs of incompatible bundles. */
const CHANNEL_VERSION = 1;

export interface WorkerPresenceOptions {
  /** Names channel and locks: see scopeOf in host.ts. */
  readonly scope: string;
  readonly openPort: (channelName: string) => BroadcastPort;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly onUpdate: (update: PeersUpdate) => void;
  readonly onProblem: (error: RockpoolError) => void;
}

/** One tab's part in presence, in its worker. */
export interface WorkerPresence {
  /** Publishes these states of the tab. From now on the tab gets updates about peers. */
  show(tabId: string, states: readonly OwnState[]): Promise<void>;
  /** This tab leads now. Call `stop` when it no longer does. */
  lead(): PresenceLine & { stop(): void };
  /** The page is suspended: its states are removed. */
  suspend(): void;
  /** The page is back. */
  resume(): void;
  close(): void;
}

export function createWorkerPresence({
  scope,
  openPort,
  locks,
  clock,
  onUpdate,
  onProblem,
}: WorkerPresenceOptions): WorkerPresence {
  const lifeLocks = createLifeLocks(locks, `rockpool:${scope}:presence`, onProblem);
  const mine = new Map<string, string>();
  let tabId: string | null = null;
  let joining: Promise<void> | null = null;
  let port: BroadcastPort | null = null;
  let site: SitePresence | null = null;
  // For the tabs that the leader knows to be alive.
  const stopWatching = new Map<string, () => void>();

  function post(message: PresenceMessage): void {
    port?.postMessage(message);
  }

  function showAll(): void {
    if (tabId === null || port === null) return;
    const states = [...mine].map(([topic, stateJson]) => ({ topic, stateJson }));
    if (site === null) return post({ kind: 'show', tabId, states, isAll: true });
    site.show(tabId, states);
    onUpdate(site.everybody);
  }

  function hear(message: PresenceMessage): void {
    if (message.kind === 'who') return showAll();
    if (message.kind === 'seen') {
      if (site === null && tabId !== null) onUpdate(message);
      return;
    }
    if (site === null) return;
    const { tabId: other, states, isAll } = message;
    if (!stopWatching.has(other))
      stopWatching.set(
        other,
        lifeLocks.watch(other, () => forget(other)),
      );
    site.show(other, states);
    if (isAll) post({ kind: 'seen', ...site.everybody });
  }

  function forget(other: string): void {
    stopWatching.delete(other);
    site?.forget(other);
  }

  function open(): void {
    port = openPort(`rockpool:${scope}:presence:${CHANNEL_VERSION}`);
    port.onmessage = ({ data }) => hear(data as PresenceMessage);
  }

  async function join(id: string): Promise<void> {
    await lifeLocks.hold(id);
    showAll();
  }

  function leave(): void {
    if (tabId !== null) {
      site?.forget(tabId);
      lifeLocks.release(tabId);
    }
    if (port !== null) port.onmessage = null;
    port?.close();
    port = null;
  }

  open();
  return {
    async show(id, states) {
      for (const { topic, stateJson } of states) {
        if (stateJson === null) mine.delete(topic);
        else mine.set(topic, stateJson);
      }
      tabId = id;
      if (joining === null) return (joining = join(id));
      await joining;
      if (site !== null) site.show(id, states);
      else post({ kind: 'show', tabId: id, states, isAll: false });
    },
    lead() {
      const leading = new SitePresence({
        clock,
        onUpdate: (update) => {
          post({ kind: 'seen', ...update });
          if (tabId !== null) onUpdate(update);
        },
        onProblem,
      });
      site = leading;
      showAll();
      post({ kind: 'who' });
      return {
        connected: (send) => leading.connected(send),
        heard: (update) => leading.heard(update),
        disconnected: () => leading.disconnected(),
        stop() {
          leading.disconnected();
          if (site === leading) site = null;
          for (const stop of stopWatching.values()) stop();
          stopWatching.clear();
        },
      };
    },
    suspend: leave,
    resume() {
      if (port !== null) return;
      open();
      if (tabId !== null) joining = join(tabId);
    },
    close: leave,
  };
}
