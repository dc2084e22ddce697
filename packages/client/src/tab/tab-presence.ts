import { MAX_PRESENCE_STATE_BYTES, MAX_PRESENCE_TOPIC_BYTES, RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Peer, Presence } from '../interface/presence.ts';
import type { OwnState, PeersUpdate, SeenState } from '../rpc/presence.ts';
import { callListener, createListeners, type Listeners } from './listeners.ts';
import { peerColor } from './peer-color.ts';

export interface TabPresenceOptions {
  readonly tabId: string;
  /** Sends the states of this tab to the worker. */
  readonly show: (tabId: string, states: readonly OwnState[]) => Promise<void>;
  readonly onProblem: (error: RockpoolError) => void;
}

/** The states that this page shows and the peers that it receives, for each topic. */
export interface TabPresence {
  /**
   * The presence of one topic; the empty topic stands for the database. Throws `presence-invalid` for a topic that is
   * too long.
   */
  about(topic: string): Presence;
  hear(update: PeersUpdate): void;
  /** Sends all states again, to a replacement worker. */
  showAgain(): void;
  end(): void;
}

const NOBODY: readonly Peer[] = Object.freeze([]);

export class PagePresence implements TabPresence {
  // The constructor sets this field; a declaration adds nothing to the page's code.
  declare private readonly options: TabPresenceOptions;
  private readonly mine = new Map<string, string>();
  /** The peers, by topic and tab. */
  private readonly seen = new Map<string, Map<string, Peer>>();
  /** The same peers as lists, in the form that the app receives. */
  private readonly others = new Map<string, readonly Peer[]>();
  private readonly listeners: Listeners<ReadonlySet<string>> = createListeners();
  /** The newest unsent state of each topic; null until the app uses presence in this tab. */
  private update: Map<string, string | null> | null = null;
  private isTelling = false;
  private isEnded = false;

  constructor(options: TabPresenceOptions) {
    this.options = options;
  }

  about(topic: string): Presence {
    if (new TextEncoder().encode(topic).length > MAX_PRESENCE_TOPIC_BYTES)
      throw new RockpoolError('presence-invalid', {
        problem: 'the key is too long',
        limitBytes: MAX_PRESENCE_TOPIC_BYTES,
      });
    const current = (): readonly Peer[] => this.others.get(topic) ?? NOBODY;
    return {
      get current() {
        return current();
      },
      subscribe: (listener) => {
        this.takePart();
        const remove = this.listeners.add((touched) => {
          if (touched.has(topic)) listener(current());
        });
        callListener(listener, current());
        return remove;
      },
      set: (state) => this.set(topic, state),
    };
  }

  hear({ whole, seen: states }: PeersUpdate): void {
    const touched = new Set([...states.map(({ topic }) => topic), ...(whole ? this.seen.keys() : [])]);
    if (whole) this.seen.clear();
    for (const state of states) this.take(state);
    this.refresh(touched);
  }

  showAgain(): void {
    const { update } = this;
    if (update === null) return;
    for (const [topic, stateJson] of this.mine) update.set(topic, stateJson);
    if (this.isTelling) return;
    if (update.size > 0) this.sendUpdate();
    else void this.tell([]);
  }

  end(): void {
    this.isEnded = true;
  }

  private takePart(): Map<string, string | null> {
    if (this.update === null) {
      this.update = new Map();
      void this.tell([]);
    }
    return this.update;
  }

  /** Sends one call at a time. Of the changes during a call, only the newest is sent. */
  private async tell(states: readonly OwnState[]): Promise<void> {
    const { tabId, show, onProblem } = this.options;
    this.isTelling = true;
    try {
      await show(tabId, states);
    } catch (thrown) {
      if (!this.isEnded) onProblem(toRockpoolError(thrown));
    }
    this.isTelling = false;
    this.sendUpdate();
  }

  private sendUpdate(): void {
    const { update } = this;
    if (this.isTelling || this.isEnded || update === null || update.size === 0) return;
    const states = [...update].map(([topic, stateJson]) => ({ topic, stateJson }));
    this.update = new Map();
    void this.tell(states);
  }

  private set(topic: string, state: unknown): void {
    const stateJson = state === null || state === undefined ? null : toJson(state);
    if (stateJson === (this.mine.get(topic) ?? null)) return;
    if (stateJson === null) this.mine.delete(topic);
    else this.mine.set(topic, stateJson);
    this.takePart().set(topic, stateJson);
    this.sendUpdate();
  }

  private take(state: SeenState): void {
    if (state.tabId === this.options.tabId) return;
    const peers = this.seen.get(state.topic) ?? new Map<string, Peer>();
    const key = `${state.siteId} ${state.tabId}`;
    const peer = toPeer(state);
    if (peer === null) peers.delete(key);
    else peers.set(key, peer);
    if (peers.size === 0) this.seen.delete(state.topic);
    else this.seen.set(state.topic, peers);
  }

  private refresh(touched: ReadonlySet<string>): void {
    for (const topic of touched) {
      const peers = [...(this.seen.get(topic)?.values() ?? [])].sort(
        (a, b) => a.sinceMs - b.sinceMs || (a.tabId < b.tabId ? -1 : 1),
      );
      if (peers.length === 0) this.others.delete(topic);
      else this.others.set(topic, Object.freeze(peers));
    }
    this.listeners.emit(touched);
  }
}

function toJson(state: unknown): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(state);
  } catch (thrown) {
    cause = thrown;
  }
  if (text === undefined) throw new RockpoolError('presence-invalid', { problem: 'the state is not JSON' }, { cause });
  const sizeBytes = new TextEncoder().encode(text).length;
  if (sizeBytes > MAX_PRESENCE_STATE_BYTES)
    throw new RockpoolError('presence-invalid', { sizeBytes, limitBytes: MAX_PRESENCE_STATE_BYTES });
  return text;
}

/** Returns null if the state is hidden or is not JSON: a peer with an invalid state is not shown. */
function toPeer({ tabId, siteId, principal, name, sinceMs, stateJson }: SeenState): Peer | null {
  if (stateJson === null) return null;
  try {
    return {
      tabId,
      siteId,
      principal,
      name,
      color: peerColor(principal),
      sinceMs,
      state: JSON.parse(stateJson) as unknown,
    };
  } catch {
    return null;
  }
}
