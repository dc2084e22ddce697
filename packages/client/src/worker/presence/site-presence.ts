import {
  bytesToHex,
  hexToBytes,
  MAX_PRESENCE_STATES,
  PRESENCE_INTERVAL_MS,
  RockpoolError,
  type PresenceUpdate,
  type PresenceState,
} from '@rockpool/shared';
import type { Clock } from '../leader/clock.ts';
import type { OwnState, PeersUpdate, SeenState } from '../../rpc/presence.ts';

/** The connection's presence interface. */
export interface PresenceLine {
  /** Called after the server has welcomed this site. */
  connected(send: (states: readonly PresenceState[]) => void): void;
  heard(update: PresenceUpdate): void;
  disconnected(): void;
}

export interface SitePresenceOptions {
  readonly clock: Clock;
  /** Called when the set of peers has changed. */
  readonly onUpdate: (update: PeersUpdate) => void;
  readonly onProblem: (error: RockpoolError) => void;
}

/**
 * Presence in the leader: sends the states of all tabs of this site to the server over the one connection, and receives
 * those of all peers. No peers are known without a connection.
 */
export class SitePresence implements PresenceLine {
  private readonly options: SitePresenceOptions;
  /** By tab, then by topic. */
  private readonly shown = new Map<string, Map<string, string>>();
  private readonly seen = new Map<string, SeenState>();
  // The newest unsent state of each tab and topic.
  private update = new Map<string, PresenceState>();
  private send: ((states: readonly PresenceState[]) => void) | null = null;
  private cancelTimer: (() => void) | null = null;
  /** Whether any tab uses presence. The server is asked for peers only then. */
  private isUsed = false;

  constructor(options: SitePresenceOptions) {
    this.options = options;
  }

  /** All peers, including those of this site. */
  get everybody(): PeersUpdate {
    return { whole: true, seen: [...this.seen.values()] };
  }

  /** Sets the states of a tab. States beyond the server's maximum per site are reported and not sent. */
  show(tabId: string, states: readonly OwnState[]): void {
    for (const { topic, stateJson } of states) this.put(tabId, topic, stateJson);
    const asks = !this.isUsed;
    this.isUsed = true;
    if (asks || this.update.size > 0) this.tellSoon();
  }

  /** Called when the tab has closed or released its lock. */
  forget(tabId: string): void {
    for (const topic of this.shown.get(tabId)?.keys() ?? []) this.put(tabId, topic, null);
    if (this.update.size > 0) this.tellSoon();
  }

  connected(send: (states: readonly PresenceState[]) => void): void {
    this.send = send;
    this.update = new Map();
    for (const [tabId, topics] of this.shown)
      for (const [topic, stateJson] of topics) this.note(tabId, topic, stateJson);
    if (this.isUsed) this.tellSoon();
  }

  heard({ whole, seen }: PresenceUpdate): void {
    if (whole) this.seen.clear();
    const states = seen.map(({ tabId, siteId, principal, name, sinceMs, topic, stateJson }) => ({
      tabId: bytesToUuid(tabId),
      siteId: bytesToHex(siteId),
      principal,
      name: name === '' ? null : name,
      sinceMs,
      topic,
      stateJson,
    }));
    for (const state of states) {
      const key = `${state.siteId} ${state.tabId} ${state.topic}`;
      if (state.stateJson === null) this.seen.delete(key);
      else this.seen.set(key, state);
    }
    this.options.onUpdate({ whole, seen: states });
  }

  disconnected(): void {
    this.send = null;
    this.cancelTimer?.();
    this.cancelTimer = null;
    if (this.seen.size === 0) return;
    this.seen.clear();
    this.options.onUpdate(this.everybody);
  }

  private put(tabId: string, topic: string, stateJson: string | null): void {
    const topics = this.shown.get(tabId) ?? new Map<string, string>();
    if (stateJson === (topics.get(topic) ?? null)) return;
    if (stateJson === null) topics.delete(topic);
    else if (topics.has(topic) || this.count() < MAX_PRESENCE_STATES) topics.set(topic, stateJson);
    else
      return this.options.onProblem(
        new RockpoolError('presence-invalid', {
          problem: 'the tabs of this device have too many presence states',
          limit: MAX_PRESENCE_STATES,
        }),
      );
    if (topics.size === 0) this.shown.delete(tabId);
    else this.shown.set(tabId, topics);
    this.note(tabId, topic, stateJson);
  }

  private count(): number {
    return [...this.shown.values()].reduce((sum, topics) => sum + topics.size, 0);
  }

  private note(tabId: string, topic: string, stateJson: string | null): void {
    this.update.set(`${tabId} ${topic}`, { tabId: uuidToBytes(tabId), topic, stateJson });
  }

  /**
   * Sends at once after a pause, else when the interval since the last message ends. States that are set without a
   * connection are sent on the next one.
   */
  private tellSoon(): void {
    if (this.send === null || this.cancelTimer !== null) return;
    this.tell(this.send);
    this.cancelTimer = this.options.clock.after(PRESENCE_INTERVAL_MS, () => {
      this.cancelTimer = null;
      if (this.update.size > 0) this.tellSoon();
    });
  }

  /** Removals are first, so that their replacements fit. */
  private tell(send: (states: readonly PresenceState[]) => void): void {
    const states = [...this.update.values()].sort(
      (a, b) => Number(a.stateJson !== null) - Number(b.stateJson !== null),
    );
    this.update = new Map();
    for (let from = 0; from === 0 || from < states.length; from += MAX_PRESENCE_STATES)
      send(states.slice(from, from + MAX_PRESENCE_STATES));
  }
}

export function bytesToUuid(bytes: Uint8Array): string {
  const hex = bytesToHex(bytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function uuidToBytes(uuid: string): Uint8Array {
  return hexToBytes(uuid.replaceAll('-', ''));
}
