import { randomUUID } from 'node:crypto';
import { decodeServerMessage, PING_INTERVAL_MS, SILENCE_LIMIT_MS, type SeenPresence } from '@rockpool/shared';
import type { Bus } from '../bus/bus.ts';
import { encodePresence } from './encode-presence.ts';

/**
 * A notification of PostgreSQL has at most 8000 bytes, and base64 makes messages a third longer. The largest state
 * takes 4 KB.
 */
const MAX_UPDATE_BYTES = 5_000;

export interface PresenceRelayOptions {
  readonly bus: Bus;
  readonly databaseId: string;
  readonly onError: (error: unknown) => void;
  /**
   * Each instance repeats all its states at the interval `repeatMs`. After `silenceMs` without a message, it is
   * removed, because it may have died.
   */
  readonly repeatMs?: number;
  readonly silenceMs?: number;
}

/** The part of a presence room that the relay calls. */
export interface RelayedRoom {
  /** Returns all states at this instance. */
  localStates(): readonly SeenPresence[];
  /** Called when states at another instance have changed. */
  onRemoteChange(states: readonly SeenPresence[]): void;
}

interface RemoteInstance {
  lastMessageMs: number;
  readonly states: Map<string, SeenPresence>;
}

/**
 * Exchanges the presence of one database with the other instances of a server over the bus. States are repeated,
 * because the bus may lose messages.
 */
export class PresenceRelay {
  private readonly options: PresenceRelayOptions;
  private readonly instance: string = randomUUID();
  private readonly byInstance = new Map<string, RemoteInstance>();
  private room: RelayedRoom | null = null;
  private unsubscribe: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: PresenceRelayOptions) {
    this.options = options;
  }

  /** Starts the exchange when the first session takes part here, and asks the other instances for their states. */
  open(room: RelayedRoom): void {
    if (this.room !== null) return;
    this.room = room;
    const { bus, databaseId, repeatMs = PING_INTERVAL_MS, onError } = this.options;
    this.unsubscribe = bus.subscribe({ databaseId }, (message) => {
      if (message.kind !== 'presence' || message.instance === this.instance) return;
      try {
        this.receive(message.instance, message.update);
        if (message.asks) this.publishAll(false);
      } catch (error) {
        onError(error);
      }
    });
    this.timer = setInterval(() => this.repeat(), repeatMs);
    this.timer.unref();
    this.publishAll(true);
  }

  /** All states at other instances. */
  get remoteStates(): readonly SeenPresence[] {
    return [...this.byInstance.values()].flatMap(({ states }) => [...states.values()]);
  }

  /** Returns the state with this key at another instance. */
  findRemote(key: string): SeenPresence | undefined {
    for (const { states } of this.byInstance.values()) if (states.has(key)) return states.get(key);
    return undefined;
  }

  publishStates(states: readonly SeenPresence[]): void {
    this.publish(states, false, false);
  }

  close(): void {
    if (this.room !== null) this.publish([], true, false);
    this.unsubscribe();
    clearInterval(this.timer);
    this.room = null;
    this.byInstance.clear();
  }

  private publishAll(asks: boolean): void {
    this.publish(this.room?.localStates() ?? [], true, asks);
  }

  private publish(states: readonly SeenPresence[], whole: boolean, asks: boolean): void {
    const { bus, databaseId } = this.options;
    for (const [index, message] of encodePresence(states, whole, MAX_UPDATE_BYTES).entries()) {
      bus.publish({
        kind: 'presence',
        databaseId,
        instance: this.instance,
        update: Buffer.from(message).toString('base64'),
        asks: asks && index === 0,
      });
    }
  }

  private receive(instance: string, update: string): void {
    const message = decodeServerMessage(new Uint8Array(Buffer.from(update, 'base64')));
    if (message.type !== 'presence-update') return;
    const known = this.byInstance.get(instance)?.states ?? new Map<string, SeenPresence>();
    const states = message.whole ? new Map<string, SeenPresence>() : known;
    const changed = new Map<string, SeenPresence>();
    if (message.whole) for (const [key, state] of known) changed.set(key, { ...state, stateJson: null });
    for (const state of message.seen) {
      const key = keyOf(state);
      const isAsBefore = known.get(key)?.stateJson === state.stateJson;
      if (state.stateJson === null) states.delete(key);
      else states.set(key, state);
      if (isAsBefore && message.whole) changed.delete(key);
      else changed.set(key, state);
    }
    this.byInstance.set(instance, { lastMessageMs: performance.now(), states });
    this.passToRoom(changed.values());
  }

  /** Passes changes to the room. A site that has moved to another instance is not reported as gone. */
  private passToRoom(changed: Iterable<SeenPresence>): void {
    if (this.room === null) return;
    const here = new Map(this.room.localStates().map((state) => [keyOf(state), state]));
    const states = [...changed].map((state) =>
      state.stateJson === null ? (here.get(keyOf(state)) ?? this.findRemote(keyOf(state)) ?? state) : state,
    );
    if (states.length > 0) this.room.onRemoteChange(states);
  }

  private repeat(): void {
    const { silenceMs = SILENCE_LIMIT_MS } = this.options;
    for (const [instance, { lastMessageMs, states }] of this.byInstance) {
      if (performance.now() - lastMessageMs < silenceMs) continue;
      this.byInstance.delete(instance);
      this.passToRoom([...states.values()].map((state) => ({ ...state, stateJson: null })));
    }
    this.publishAll(false);
  }
}

/** Identifies a state by site, tab and topic. */
export function keyOf({ siteId, tabId, topic }: SeenPresence): string {
  return `${Buffer.from(siteId).toString('hex')} ${Buffer.from(tabId).toString('hex')} ${topic}`;
}
