import { MAX_PRESENCE_STATE_BYTES, MAX_PRESENCE_TOPIC_BYTES, RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Peer, Presence } from '../client.ts';
import type { OwnState, PeersUpdate, SeenState } from '../rpc/presence.ts';
import { callListener, createListeners } from './listeners.ts';
import { peerColor } from './peer-color.ts';

export interface TabPresenceOptions {
  readonly tabId: string;
  /** Sends the states of this tab to the worker. */
  readonly show: (tabId: string, states: readonly OwnState[]) => Promise<void>;
  readonly onProblem: (error: RockpoolError) => void;
}

/** The states that this page shows, and the peers that it sees, by topic. */
export interface TabPresence {
  /**
   * The presence of one topic; the empty topic is the database. Throws `presence-invalid` for a topic that is too long.
   */
  about(topic: string): Presence;
  hear(update: PeersUpdate): void;
  /** Sends all states again, to a replacement worker. */
  showAgain(): void;
  end(): void;
}

const NOBODY: readonly Peer[] = Object.freeze([]);

export function createTabPresence({ tabId, show, onProblem }: TabPresenceOptions): TabPresence {
  const mine = new Map<string, string>();
  /** The peers by topic and tab. */
  const seen = new Map<string, Map<string, Peer>>();
  /** The same peers, as the lists that the app sees. */
  const others = new Map<string, readonly Peer[]>();
  const listeners = createListeners<ReadonlySet<string>>();
  /** The unsent states, the newest of each topic; null while this tab does not take part. */
  let update: Map<string, string | null> | null = null;
  let isTelling = false;
  let isEnded = false;

  function takePart(): Map<string, string | null> {
    if (update === null) {
      update = new Map();
      void tell([]);
    }
    return update;
  }

  /** Sends one call at a time; of the changes meanwhile, only the newest is sent. */
  async function tell(states: readonly OwnState[]): Promise<void> {
    isTelling = true;
    try {
      await show(tabId, states);
    } catch (thrown) {
      const error = toRockpoolError(thrown);
      if (!isEnded && error.code !== 'client-closed') onProblem(error);
    }
    isTelling = false;
    sendUpdate();
  }

  function sendUpdate(): void {
    if (isTelling || isEnded || update === null || update.size === 0) return;
    const states = [...update].map(([topic, stateJson]) => ({ topic, stateJson }));
    update = new Map();
    void tell(states);
  }

  function set(topic: string, state: unknown): void {
    const stateJson = state === null || state === undefined ? null : toJson(state);
    if (stateJson === (mine.get(topic) ?? null)) return;
    if (stateJson === null) mine.delete(topic);
    else mine.set(topic, stateJson);
    takePart().set(topic, stateJson);
    sendUpdate();
  }

  function take(state: SeenState): void {
    if (state.tabId === tabId) return;
    const people = seen.get(state.topic) ?? new Map<string, Peer>();
    const key = `${state.siteId} ${state.tabId}`;
    const person = toPeer(state);
    if (person === null) people.delete(key);
    else people.set(key, person);
    if (people.size === 0) seen.delete(state.topic);
    else seen.set(state.topic, people);
  }

  function refresh(touched: ReadonlySet<string>): void {
    for (const topic of touched) {
      const people = [...(seen.get(topic)?.values() ?? [])].sort(
        (a, b) => a.sinceMs - b.sinceMs || (a.tabId < b.tabId ? -1 : 1),
      );
      if (people.length === 0) others.delete(topic);
      else others.set(topic, Object.freeze(people));
    }
    listeners.emit(touched);
  }

  return {
    about(topic) {
      if (new TextEncoder().encode(topic).length > MAX_PRESENCE_TOPIC_BYTES)
        throw new RockpoolError('presence-invalid', {
          problem: 'the key is too long',
          limitBytes: MAX_PRESENCE_TOPIC_BYTES,
        });
      const current = (): readonly Peer[] => others.get(topic) ?? NOBODY;
      return {
        get current() {
          return current();
        },
        subscribe(listener) {
          takePart();
          const remove = listeners.add((touched) => {
            if (touched.has(topic)) listener(current());
          });
          callListener(listener, current());
          return remove;
        },
        set: (state) => set(topic, state),
      };
    },
    hear({ whole, seen: states }) {
      const touched = new Set([...states.map(({ topic }) => topic), ...(whole ? seen.keys() : [])]);
      if (whole) seen.clear();
      for (const state of states) take(state);
      refresh(touched);
    },
    showAgain() {
      if (update === null) return;
      for (const [topic, stateJson] of mine) update.set(topic, stateJson);
      if (isTelling) return;
      if (update.size > 0) sendUpdate();
      else void tell([]);
    },
    end() {
      isEnded = true;
    },
  };
}

function toJson(state: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(state);
  } catch (thrown) {
    throw new RockpoolError('presence-invalid', { problem: 'not JSON' }, { cause: thrown });
  }
  if (text === undefined) throw new RockpoolError('presence-invalid', { problem: 'not JSON' });
  const sizeBytes = new TextEncoder().encode(text).length;
  if (sizeBytes > MAX_PRESENCE_STATE_BYTES)
    throw new RockpoolError('presence-invalid', { sizeBytes, limitBytes: MAX_PRESENCE_STATE_BYTES });
  return text;
}

/** Null if the state is hidden or is not JSON: a peer with an invalid state is not shown. */
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
