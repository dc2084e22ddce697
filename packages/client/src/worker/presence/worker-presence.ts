import type { RockpoolError } from '@rockpool/shared';
import type { Clock } from '../leader/clock.ts';
import type { Locks } from '../leader/election.ts';
import { createLifeLocks, type LifeLocks } from '../leader/life-locks.ts';
import type { BroadcastPort } from '../leader/tab-channel.ts';
import type { OwnState, PeersUpdate } from '../../rpc/presence.ts';
import { SitePresence, type PresenceLine } from './site-presence.ts';

/*
 *   page ── show ──► this tab ── "show" ──► the tab that leads ──► server
 *   page ◄─ update ─ this tab ◄── "seen" ── the tab that leads ◄── server
 *
 * Presence has its own channel, on which no message is repeated, because presence is never stored. A new leader asks
 * ("who"), and every tab sends its states again. A tab that ends releases its lock, and the leader removes its states.
 */
type PresenceMessage =
  | {
      readonly kind: 'show';
      readonly tabId: string;
      readonly states: readonly OwnState[];
      /** Whether these are all states of the tab. The leader then responds with all peers. */
      readonly isAll: boolean;
    }
  | { readonly kind: 'who' }
  | ({ readonly kind: 'seen' } & PeersUpdate);

/** Part of the channel's name, which separates tabs of incompatible bundles. */
const CHANNEL_VERSION = 1;

export interface WorkerPresenceOptions {
  /** Part of the names of the channel and the locks: see WorkerEnvironment.scopeOf. */
  readonly scope: string;
  readonly openPort: (channelName: string) => BroadcastPort;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly onUpdate: (update: PeersUpdate) => void;
  readonly onProblem: (error: RockpoolError) => void;
}

/** One tab's part in presence, in its worker. */
export interface WorkerPresence {
  /** Publishes these states of the tab. From now on, the tab receives updates about peers. */
  show(tabId: string, states: readonly OwnState[]): Promise<void>;
  /** Called when this tab leads; `stop` is called when it no longer does. */
  lead(): PresenceLine & { stop(): void };
  /** Called when the page is suspended. Removes its states. */
  suspend(): void;
  /** Called when the page is back. */
  resume(): void;
  close(): void;
}

export function createWorkerPresence(options: WorkerPresenceOptions): WorkerPresence {
  return new TabInPresence(options);
}

class TabInPresence implements WorkerPresence {
  private readonly options: WorkerPresenceOptions;
  private readonly lifeLocks: LifeLocks;
  /** The states that this tab shows, as JSON by topic. */
  private readonly mine = new Map<string, string>();
  private tabId: string | null = null;
  private joining: Promise<void> | null = null;
  private port: BroadcastPort | null = null;
  /** Null while another tab leads. */
  private site: SitePresence | null = null;
  /** For each tab that has sent its presence, by tab id: the function that stops waiting for the end of the tab. */
  private readonly stopWatching = new Map<string, () => void>();

  constructor(options: WorkerPresenceOptions) {
    const { scope, locks, onProblem } = options;
    this.options = options;
    this.lifeLocks = createLifeLocks(locks, `rockpool:${scope}:presence`, onProblem);
    this.open();
  }

  async show(tabId: string, states: readonly OwnState[]): Promise<void> {
    for (const { topic, stateJson } of states) {
      if (stateJson === null) this.mine.delete(topic);
      else this.mine.set(topic, stateJson);
    }
    this.tabId = tabId;
    if (this.joining === null) return (this.joining = this.join(tabId));
    await this.joining;
    if (this.site !== null) this.site.show(tabId, states);
    else this.post({ kind: 'show', tabId, states, isAll: false });
  }

  lead(): PresenceLine & { stop(): void } {
    const { clock, onUpdate, onProblem } = this.options;
    const leading = new SitePresence({
      clock,
      onUpdate: (update) => {
        this.post({ kind: 'seen', ...update });
        if (this.tabId !== null) onUpdate(update);
      },
      onProblem,
    });
    this.site = leading;
    this.showAll();
    this.post({ kind: 'who' });
    return {
      connected: (send) => leading.connected(send),
      heard: (update) => leading.heard(update),
      disconnected: () => leading.disconnected(),
      stop: () => this.stopLeading(leading),
    };
  }

  suspend(): void {
    this.leave();
  }

  resume(): void {
    if (this.port !== null) return;
    this.open();
    if (this.tabId !== null) this.joining = this.join(this.tabId);
  }

  close(): void {
    this.leave();
  }

  private stopLeading(leading: SitePresence): void {
    leading.disconnected();
    if (this.site === leading) this.site = null;
    for (const stop of this.stopWatching.values()) stop();
    this.stopWatching.clear();
  }

  private open(): void {
    const { scope, openPort } = this.options;
    const port = openPort(`rockpool:${scope}:presence:${CHANNEL_VERSION}`);
    port.onmessage = ({ data }) => this.receive(data as PresenceMessage);
    this.port = port;
  }

  private async join(tabId: string): Promise<void> {
    await this.lifeLocks.hold(tabId);
    this.showAll();
  }

  private leave(): void {
    if (this.tabId !== null) {
      this.site?.forget(this.tabId);
      this.lifeLocks.release(this.tabId);
    }
    if (this.port !== null) this.port.onmessage = null;
    this.port?.close();
    this.port = null;
  }

  private post(message: PresenceMessage): void {
    this.port?.postMessage(message);
  }

  private showAll(): void {
    const { tabId, site } = this;
    if (tabId === null || this.port === null) return;
    const states = [...this.mine].map(([topic, stateJson]) => ({ topic, stateJson }));
    if (site === null) return this.post({ kind: 'show', tabId, states, isAll: true });
    site.show(tabId, states);
    this.options.onUpdate(site.everybody);
  }

  private receive(message: PresenceMessage): void {
    const { site, stopWatching } = this;
    if (message.kind === 'who') return this.showAll();
    if (message.kind === 'seen') {
      if (site === null && this.tabId !== null) this.options.onUpdate(message);
      return;
    }
    if (site === null) return;
    const { tabId, states, isAll } = message;
    if (!stopWatching.has(tabId))
      stopWatching.set(
        tabId,
        this.lifeLocks.watch(tabId, () => this.forget(tabId)),
      );
    site.show(tabId, states);
    if (isAll) this.post({ kind: 'seen', ...site.everybody });
  }

  private forget(tabId: string): void {
    this.stopWatching.delete(tabId);
    this.site?.forget(tabId);
  }
}
