import {
  DELIVERY_PART_BYTES,
  MAX_PRESENCE_STATES,
  PRESENCE_INTERVAL_MS,
  RockpoolError,
  type PresenceState,
  type SeenPresence,
} from '@rockpool/shared';
import type { Principal } from '../auth/principal.ts';
import { EVERYTHING, readablePresence, type ReadFilter } from '../store/read-filter.ts';
import { encodePresence } from './encode-presence.ts';
import { keyOf, type PresenceRelay, type RelayedRoom } from './presence-relay.ts';

/** A session that shows itself and is told who else is here. */
export interface PresenceMember {
  /** 32 hex digits. */
  readonly site: string;
  send(...messages: Uint8Array[]): void;
}

/** Who says something, as the token has it, and when. */
export interface PresenceSender {
  readonly principal: Pick<Principal, 'id' | 'name'>;
  readonly nowMs: number;
}

interface ShownTab {
  readonly sinceMs: number;
  readonly byTopic: Map<string, SeenPresence>;
}

/**
 * Who is here in one database: what the tabs of its sessions show of themselves, passed on to every session that takes
 * part, and kept no longer than the session. Who they are is what their tokens say. However much is said, each session
 * is told at most once in an interval.
 */
export class PresenceRoom implements RelayedRoom {
  private readonly relay: PresenceRelay | null;
  private readonly intervalMs: number;
  private readonly tabsByAttendant = new Map<PresenceMember, Map<string, ShownTab>>();
  private readonly filterByAttendant = new Map<PresenceMember, ReadFilter>();
  // What everybody has yet to be told, by site, tab and topic: the newest of each.
  private update = new Map<string, SeenPresence>();
  // Of it what is shown here, for the other instances.
  private localUpdates = new Map<string, SeenPresence>();
  private timer: NodeJS.Timeout | null = null;

  /** `relay`: null where the server is one instance. `intervalMs`: see shared/protocol/limits.ts. */
  constructor(relay: PresenceRelay | null = null, intervalMs: number = PRESENCE_INTERVAL_MS) {
    this.relay = relay;
    this.intervalMs = intervalMs;
  }

  shown(): readonly SeenPresence[] {
    return [...this.tabsByAttendant.values()].flatMap(statesOf);
  }

  heard(states: readonly SeenPresence[]): void {
    for (const state of states) this.update.set(keyOf(state), state);
    this.tellSoon();
  }

  /** Throws `presence-invalid` for what is no JSON and for too many states: the session ends with it. */
  show(
    attendant: PresenceMember,
    speaker: PresenceSender,
    states: readonly PresenceState[],
    filter: ReadFilter = EVERYTHING,
  ): void {
    for (const { stateJson } of states) if (stateJson !== null) requireJson(stateJson);
    const tabs = this.tabsByAttendant.get(attendant) ?? this.enter(attendant, filter);
    for (const state of states) this.put(attendant.site, tabs, speaker, state);
    if (statesOf(tabs).length > MAX_PRESENCE_STATES)
      throw new RockpoolError('presence-invalid', { problem: 'too many states', limit: MAX_PRESENCE_STATES });
    this.tellSoon();
  }

  leave(attendant: PresenceMember): void {
    const tabs = this.tabsByAttendant.get(attendant);
    if (tabs === undefined) return;
    this.tabsByAttendant.delete(attendant);
    this.filterByAttendant.delete(attendant);
    for (const state of statesOf(tabs)) this.note({ ...state, stateJson: null }, this.relay?.find(keyOf(state)));
    this.tellSoon();
  }

  /** The database closes: nobody is told anything more. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.tabsByAttendant.clear();
    this.filterByAttendant.clear();
    this.update.clear();
    this.localUpdates.clear();
    this.relay?.close();
  }

  /** Somebody new is told of all who are here. */
  private enter(attendant: PresenceMember, filter: ReadFilter): Map<string, ShownTab> {
    const seen = [...this.shown(), ...(this.relay?.elsewhere ?? [])];
    const tabs = new Map<string, ShownTab>();
    this.tabsByAttendant.set(attendant, tabs);
    if (filter.rows !== 'everything') this.filterByAttendant.set(attendant, filter);
    attendant.send(...encodePresence(readablePresence(seen, filter), true, DELIVERY_PART_BYTES));
    this.relay?.open(this);
    return tabs;
  }

  private put(
    site: string,
    tabs: Map<string, ShownTab>,
    { principal, nowMs }: PresenceSender,
    state: PresenceState,
  ): void {
    const tabName = Buffer.from(state.tabId).toString('hex');
    const tab = tabs.get(tabName) ?? { sinceMs: nowMs, byTopic: new Map<string, SeenPresence>() };
    const seen: SeenPresence = {
      siteId: Buffer.from(site, 'hex'),
      principal: principal.id,
      name: principal.name ?? '',
      sinceMs: tab.sinceMs,
      ...state,
    };
    if (state.stateJson === null) tab.byTopic.delete(state.topic);
    else tab.byTopic.set(state.topic, seen);
    if (tab.byTopic.size === 0) tabs.delete(tabName);
    else tabs.set(tabName, tab);
    this.note(seen);
  }

  /** `elsewhere`: the same as another instance shows it. A site that has moved there is gone from here only. */
  private note(seen: SeenPresence, elsewhere?: SeenPresence): void {
    this.update.set(keyOf(seen), elsewhere ?? seen);
    this.localUpdates.set(keyOf(seen), seen);
  }

  /** At once after a pause; else when the interval of the last telling is over. */
  private tellSoon(): void {
    if (this.timer !== null || this.update.size === 0) return;
    const states = [...this.update.values()];
    const forEverybody = encodePresence(readablePresence(states, EVERYTHING), false, DELIVERY_PART_BYTES);
    if (this.localUpdates.size > 0) this.relay?.tell([...this.localUpdates.values()]);
    this.update = new Map();
    this.localUpdates = new Map();
    for (const attendant of [...this.tabsByAttendant.keys()]) {
      const filter = this.filterByAttendant.get(attendant);
      if (filter === undefined) {
        attendant.send(...forEverybody);
        continue;
      }
      const readable = readablePresence(states, filter);
      if (readable.length > 0) attendant.send(...encodePresence(readable, false, DELIVERY_PART_BYTES));
    }
    this.timer = setTimeout(() => {
      this.timer = null;
      this.tellSoon();
    }, this.intervalMs);
    this.timer.unref();
  }
}

function statesOf(tabs: ReadonlyMap<string, ShownTab>): SeenPresence[] {
  return [...tabs.values()].flatMap(({ byTopic }) => [...byTopic.values()]);
}

function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new RockpoolError('presence-invalid', { problem: 'not JSON' });
  }
}
