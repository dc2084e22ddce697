import { createHash } from 'node:crypto';
import {
  DELIVERY_PART_BYTES,
  ID_BYTES,
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

/** A session that takes part in presence. */
export interface PresenceMember {
  /** 32 hex digits. */
  readonly site: string;
  send(...messages: Uint8Array[]): void;
}

/** The principal of a presence message, from its token, and when it was received. */
export interface PresenceSender {
  readonly principal: Pick<Principal, 'id' | 'name'>;
  readonly nowMs: number;
}

/** The principal of a session, and the site id under which others see it. */
interface ShownAs {
  readonly principal: string;
  readonly siteId: Uint8Array;
}

interface PresentTab {
  readonly sinceMs: number;
  readonly byTopic: Map<string, SeenPresence>;
}

/**
 * Presence in one database: the states that the tabs of its sessions publish, forwarded to every session that takes
 * part, and removed with the session. Principals and names come from the tokens. Each session receives at most one
 * update per interval.
 */
export class PresenceRoom implements RelayedRoom {
  private readonly relay: PresenceRelay | null;
  private readonly intervalMs: number;
  private readonly tabsByMember = new Map<PresenceMember, Map<string, PresentTab>>();
  private readonly shownAs = new Map<PresenceMember, ShownAs>();
  // The sessions that are shown under the site id that they sent.
  private readonly membersBySite = new Map<string, Set<PresenceMember>>();
  private readonly filterByMember = new Map<PresenceMember, ReadFilter>();
  // States to send to sessions, by site, tab and topic: the newest of each.
  private update = new Map<string, SeenPresence>();
  // The states of this instance, which are sent to the other instances.
  private localUpdates = new Map<string, SeenPresence>();
  // The keys that are new since the last update. Their removal is sent to nobody: otherwise one session could make
  // every other one read any number of states that come and go within an interval.
  private readonly unknown = new Set<string>();
  private timer: NodeJS.Timeout | null = null;

  /** `relay` is null if the server is one instance. `intervalMs`: see shared/protocol/limits.ts. */
  constructor(relay: PresenceRelay | null = null, intervalMs: number = PRESENCE_INTERVAL_MS) {
    this.relay = relay;
    this.intervalMs = intervalMs;
  }

  /** From now on, others may know these states. */
  localStates(): readonly SeenPresence[] {
    this.unknown.clear();
    return [...this.tabsByMember.values()].flatMap(statesOf);
  }

  onRemoteChange(states: readonly SeenPresence[]): void {
    for (const state of states) {
      this.update.set(keyOf(state), state);
      if (state.stateJson !== null) this.makeWay(state);
    }
    this.scheduleUpdate();
  }

  /**
   * Publishes states of a session. Throws `presence-invalid`, which ends the session, for invalid JSON and for too many
   * states.
   */
  show(
    member: PresenceMember,
    sender: PresenceSender,
    states: readonly PresenceState[],
    filter: ReadFilter = EVERYTHING,
  ): void {
    for (const { stateJson } of states) if (stateJson !== null) requireJson(stateJson);
    const tabs = this.tabsByMember.get(member) ?? this.join(member, filter);
    // The states of the others may have ended the session, for example if the client does not read.
    if (!this.tabsByMember.has(member)) return;
    const siteId = this.siteOf(member, sender.principal.id);
    for (const state of states) this.put(siteId, tabs, sender, state);
    if (statesOf(tabs).length > MAX_PRESENCE_STATES)
      throw new RockpoolError('presence-invalid', {
        problem: 'the message has too many states',
        limit: MAX_PRESENCE_STATES,
      });
    this.scheduleUpdate();
  }

  leave(member: PresenceMember): void {
    const tabs = this.tabsByMember.get(member);
    if (tabs === undefined) return;
    this.tabsByMember.delete(member);
    this.filterByMember.delete(member);
    this.forgetSite(member);
    for (const state of statesOf(tabs))
      this.queueUpdate({ ...state, stateJson: null }, this.relay?.findRemote(keyOf(state)));
    this.scheduleUpdate();
  }

  /** Stops all updates, because the database closes. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.tabsByMember.clear();
    this.filterByMember.clear();
    this.shownAs.clear();
    this.membersBySite.clear();
    this.update.clear();
    this.localUpdates.clear();
    this.relay?.close();
  }

  /** Adds a session and sends it all current states. */
  private join(member: PresenceMember, filter: ReadFilter): Map<string, PresentTab> {
    const seen = [...this.localStates(), ...(this.relay?.remoteStates ?? [])];
    const tabs = new Map<string, PresentTab>();
    this.tabsByMember.set(member, tabs);
    if (filter.rows !== 'everything') this.filterByMember.set(member, filter);
    member.send(...encodePresence(readablePresence(seen, filter), true, DELIVERY_PART_BYTES));
    this.relay?.open(this);
    return tabs;
  }

  /**
   * The site id that others see. Until a site has written, two principals may use its id. Only one of them is shown
   * under it, even if that principal shows no state, so that no presence can replace or hide another.
   */
  private siteOf(member: PresenceMember, principal: string): Uint8Array {
    const known = this.shownAs.get(member);
    if (known !== undefined) return known.siteId;
    const here = this.membersBySite.get(member.site) ?? new Set();
    const isTaken =
      [...here].some((other) => this.shownAs.get(other)?.principal !== principal) ||
      (this.relay?.remoteStates ?? []).some(
        (state) => state.principal !== principal && Buffer.from(state.siteId).toString('hex') === member.site,
      );
    const siteId = isTaken ? ownSiteOf(member, principal) : Buffer.from(member.site, 'hex');
    this.shownAs.set(member, { principal, siteId });
    if (!isTaken) this.membersBySite.set(member.site, here.add(member));
    return siteId;
  }

  /** Gives sessions here their own ids if another instance shows another principal under their site id. */
  private makeWay({ siteId, principal }: SeenPresence): void {
    const site = Buffer.from(siteId).toString('hex');
    for (const member of [...(this.membersBySite.get(site) ?? [])]) {
      const shown = this.shownAs.get(member);
      if (shown === undefined || shown.principal === principal) continue;
      this.forgetSite(member);
      const ownSiteId = ownSiteOf(member, shown.principal);
      this.shownAs.set(member, { ...shown, siteId: ownSiteId });
      for (const { byTopic } of this.tabsByMember.get(member)?.values() ?? [])
        for (const [topic, state] of byTopic) {
          this.queueUpdate({ ...state, stateJson: null }, this.relay?.findRemote(keyOf(state)));
          const moved = { ...state, siteId: ownSiteId };
          byTopic.set(topic, moved);
          this.queueUpdate(moved);
        }
    }
  }

  private forgetSite(member: PresenceMember): void {
    this.shownAs.delete(member);
    const here = this.membersBySite.get(member.site);
    here?.delete(member);
    if (here?.size === 0) this.membersBySite.delete(member.site);
  }

  private put(
    siteId: Uint8Array,
    tabs: Map<string, PresentTab>,
    { principal, nowMs }: PresenceSender,
    state: PresenceState,
  ): void {
    const tabName = Buffer.from(state.tabId).toString('hex');
    const tab = tabs.get(tabName) ?? { sinceMs: nowMs, byTopic: new Map<string, SeenPresence>() };
    const seen: SeenPresence = {
      siteId,
      principal: principal.id,
      name: principal.name ?? '',
      sinceMs: tab.sinceMs,
      ...state,
    };
    const key = keyOf(seen);
    const isNew = !tab.byTopic.has(state.topic);
    if (isNew && state.stateJson === null) return;
    if (state.stateJson === null) tab.byTopic.delete(state.topic);
    else tab.byTopic.set(state.topic, seen);
    if (tab.byTopic.size === 0) tabs.delete(tabName);
    else tabs.set(tabName, tab);
    if (state.stateJson === null && this.unknown.delete(key)) {
      this.update.delete(key);
      this.localUpdates.delete(key);
      return;
    }
    if (isNew && !this.update.has(key)) this.unknown.add(key);
    this.queueUpdate(seen);
  }

  /**
   * Queues an update. `elsewhere` is the state with the same key at another instance: a site that has moved there is
   * not reported as gone.
   */
  private queueUpdate(seen: SeenPresence, elsewhere?: SeenPresence): void {
    this.update.set(keyOf(seen), elsewhere ?? seen);
    this.localUpdates.set(keyOf(seen), seen);
  }

  /** Sends at once after a pause, otherwise when the interval since the last update is over. */
  private scheduleUpdate(): void {
    if (this.timer !== null || this.update.size === 0) return;
    const states = [...this.update.values()];
    const forEverybody = encodePresence(readablePresence(states, EVERYTHING), false, DELIVERY_PART_BYTES);
    if (this.localUpdates.size > 0) this.relay?.publishStates([...this.localUpdates.values()]);
    this.update = new Map();
    this.localUpdates = new Map();
    this.unknown.clear();
    // Set before anything is sent: a member that leaves meanwhile is reported with the next update, after this one.
    this.timer = setTimeout(() => {
      this.timer = null;
      this.scheduleUpdate();
    }, this.intervalMs);
    this.timer.unref();
    for (const member of [...this.tabsByMember.keys()]) {
      const filter = this.filterByMember.get(member);
      if (filter === undefined) {
        member.send(...forEverybody);
        continue;
      }
      const readable = readablePresence(states, filter);
      if (readable.length > 0) member.send(...encodePresence(readable, false, DELIVERY_PART_BYTES));
    }
  }
}

/** An id that only this principal has with this site. */
function ownSiteOf({ site }: PresenceMember, principal: string): Uint8Array {
  return createHash('sha256').update(`${site} ${principal}`).digest().subarray(0, ID_BYTES);
}

function statesOf(tabs: ReadonlyMap<string, PresentTab>): SeenPresence[] {
  return [...tabs.values()].flatMap(({ byTopic }) => [...byTopic.values()]);
}

function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new RockpoolError('presence-invalid', { problem: 'a state is not JSON' });
  }
}
