import { encodeMessage, MAX_PRESENCE_STATES, PRESENCE_INTERVAL_MS, RockpoolError, type PresenceState, type SeenPresence } from '@rockpool/shared';
import type { Principal } from '../auth/principal.ts';

/** A session that shows itself and is told who else is here. */
export interface Attendant {
  /** 32 hex digits. */
  readonly site: string;
  send(...messages: Uint8Array[]): void;
}

/** Who says something, as the token has it, and when. */
export interface Speaker {
  readonly principal: Pick<Principal, 'id' | 'name'>;
  readonly nowMs: number;
}

interface ShownTab {
  readonly sinceMs: number;
  readonly byTopic: Map<string, SeenPresence>;
}

/** One message has so many states at most: well below a megabyte. */
const MAX_STATES_OF_MESSAGE = 256;

/**
 * Who is here in one database: what the tabs of its sessions show of themselves, passed on to every session that takes part, and kept no longer
 * than the session. Who they are is what their tokens say. However much is said, each session is told at most once in an interval.
 */
export class PresenceRoom {
  private readonly intervalMs: number;
  private readonly tabsByAttendant = new Map<Attendant, Map<string, ShownTab>>();
  // What everybody has yet to be told, by site, tab and topic: the newest of each.
  private news = new Map<string, SeenPresence>();
  private timer: NodeJS.Timeout | null = null;

  /** `intervalMs`: see shared/protocol/limits.ts. */
  constructor(intervalMs: number = PRESENCE_INTERVAL_MS) {
    this.intervalMs = intervalMs;
  }

  /** Throws `presence-invalid` for what is no JSON and for too many states: the session ends with it. */
  show(attendant: Attendant, speaker: Speaker, states: readonly PresenceState[]): void {
    for (const { stateJson } of states) if (stateJson !== null) requireJson(stateJson);
    const tabs = this.tabsByAttendant.get(attendant) ?? this.enter(attendant);
    for (const state of states) this.put(attendant.site, tabs, speaker, state);
    if (statesOf(tabs).length > MAX_PRESENCE_STATES) throw new RockpoolError('presence-invalid', { problem: 'too many states', limit: MAX_PRESENCE_STATES });
    this.tellSoon();
  }

  leave(attendant: Attendant): void {
    const tabs = this.tabsByAttendant.get(attendant);
    if (tabs === undefined) return;
    this.tabsByAttendant.delete(attendant);
    for (const state of statesOf(tabs)) this.note({ ...state, stateJson: null });
    this.tellSoon();
  }

  /** The database closes: nobody is told anything more. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.tabsByAttendant.clear();
    this.news.clear();
  }

  /** Somebody new is told of all who are here. */
  private enter(attendant: Attendant): Map<string, ShownTab> {
    const seen = [...this.tabsByAttendant.values()].flatMap(statesOf);
    const tabs = new Map<string, ShownTab>();
    this.tabsByAttendant.set(attendant, tabs);
    attendant.send(...encodeNews(seen, true));
    return tabs;
  }

  private put(site: string, tabs: Map<string, ShownTab>, { principal, nowMs }: Speaker, state: PresenceState): void {
    const tabName = Buffer.from(state.tabId).toString('hex');
    const tab = tabs.get(tabName) ?? { sinceMs: nowMs, byTopic: new Map<string, SeenPresence>() };
    const seen: SeenPresence = { siteId: Buffer.from(site, 'hex'), principal: principal.id, name: principal.name ?? '', sinceMs: tab.sinceMs, ...state };
    if (state.stateJson === null) tab.byTopic.delete(state.topic);
    else tab.byTopic.set(state.topic, seen);
    if (tab.byTopic.size === 0) tabs.delete(tabName);
    else tabs.set(tabName, tab);
    this.note(seen);
  }

  private note(seen: SeenPresence): void {
    this.news.set(`${Buffer.from(seen.siteId).toString('hex')} ${Buffer.from(seen.tabId).toString('hex')} ${seen.topic}`, seen);
  }

  /** At once after a pause; else when the interval of the last telling is over. */
  private tellSoon(): void {
    if (this.timer !== null || this.news.size === 0) return;
    const messages = encodeNews([...this.news.values()], false);
    this.news = new Map();
    for (const attendant of [...this.tabsByAttendant.keys()]) attendant.send(...messages);
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

/** Only the first message says that it is all there is: what follows adds to it. */
function encodeNews(seen: readonly SeenPresence[], whole: boolean): Uint8Array[] {
  const messages = [encodeMessage({ type: 'presence-news', whole, seen: seen.slice(0, MAX_STATES_OF_MESSAGE) })];
  for (let from = MAX_STATES_OF_MESSAGE; from < seen.length; from += MAX_STATES_OF_MESSAGE) {
    messages.push(encodeMessage({ type: 'presence-news', whole: false, seen: seen.slice(from, from + MAX_STATES_OF_MESSAGE) }));
  }
  return messages;
}

function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new RockpoolError('presence-invalid', { problem: 'not JSON' });
  }
}
