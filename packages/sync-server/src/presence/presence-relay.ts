import { randomUUID } from 'node:crypto';
import { decodeServerMessage, PING_INTERVAL_MS, SILENCE_LIMIT_MS, type SeenPresence } from '@rockpool/shared';
import type { Bus } from '../bus/bus.ts';
import { encodePresence } from './encode-presence.ts';

/**
 * A notification of PostgreSQL has at most 8000 bytes, and these are a third longer there. The largest state takes 4
 * KB.
 */
const MAX_NEWS_BYTES = 5_000;

export interface PresenceRelayOptions {
  readonly bus: Bus;
  readonly databaseId: string;
  readonly onError: (error: unknown) => void;
  /** Each instance says everything again this often, and is forgotten after the silence: it may have died. */
  readonly repeatMs?: number;
  readonly silenceMs?: number;
}

/** What a room does with the relay's news. */
export interface RelayedRoom {
  /** All that is shown at this instance. */
  shown(): readonly SeenPresence[];
  /** What is shown at another has changed. */
  heard(states: readonly SeenPresence[]): void;
}

interface Elsewhere {
  heardMs: number;
  readonly states: Map<string, SeenPresence>;
}

/** Presence in one database at the other instances of a server, by the bus. What is lost on it is said again. */
export class PresenceRelay {
  private readonly options: PresenceRelayOptions;
  private readonly instance: string = randomUUID();
  private readonly byInstance = new Map<string, Elsewhere>();
  private room: RelayedRoom | null = null;
  private unsubscribe: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: PresenceRelayOptions) {
    this.options = options;
  }

  /** Somebody takes part here: from now on the others are heard, and they are asked for what they show. */
  open(room: RelayedRoom): void {
    if (this.room !== null) return;
    this.room = room;
    const { bus, databaseId, repeatMs = PING_INTERVAL_MS, onError } = this.options;
    this.unsubscribe = bus.subscribe((message) => {
      if (message.kind !== 'presence' || message.databaseId !== databaseId || message.instance === this.instance)
        return;
      try {
        this.hear(message.instance, message.update);
        if (message.asks) this.tellAll(false);
      } catch (error) {
        onError(error);
      }
    });
    this.timer = setInterval(() => this.repeat(), repeatMs);
    this.timer.unref();
    this.tellAll(true);
  }

  /** All that the other instances show. */
  get elsewhere(): readonly SeenPresence[] {
    return [...this.byInstance.values()].flatMap(({ states }) => [...states.values()]);
  }

  /** What another instance shows under this key. */
  find(key: string): SeenPresence | undefined {
    for (const { states } of this.byInstance.values()) if (states.has(key)) return states.get(key);
    return undefined;
  }

  tell(states: readonly SeenPresence[]): void {
    this.publish(states, false, false);
  }

  close(): void {
    if (this.room !== null) this.publish([], true, false);
    this.unsubscribe();
    clearInterval(this.timer);
    this.room = null;
    this.byInstance.clear();
  }

  private tellAll(asks: boolean): void {
    this.publish(this.room?.shown() ?? [], true, asks);
  }

  private publish(states: readonly SeenPresence[], whole: boolean, asks: boolean): void {
    const { bus, databaseId } = this.options;
    for (const [index, message] of encodePresence(states, whole, MAX_NEWS_BYTES).entries()) {
      bus.publish({
        kind: 'presence',
        databaseId,
        instance: this.instance,
        update: Buffer.from(message).toString('base64'),
        asks: asks && index === 0,
      });
    }
  }

  private hear(instance: string, update: string): void {
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
    this.byInstance.set(instance, { heardMs: performance.now(), states });
    this.hand(changed.values());
  }

  /** A site that has moved to another instance is gone from this one only. */
  private hand(changed: Iterable<SeenPresence>): void {
    if (this.room === null) return;
    const here = new Map(this.room.shown().map((state) => [keyOf(state), state]));
    const states = [...changed].map((state) =>
      state.stateJson === null ? (here.get(keyOf(state)) ?? this.find(keyOf(state)) ?? state) : state,
    );
    if (states.length > 0) this.room.heard(states);
  }

  private repeat(): void {
    const { silenceMs = SILENCE_LIMIT_MS } = this.options;
    for (const [instance, { heardMs, states }] of this.byInstance) {
      if (performance.now() - heardMs < silenceMs) continue;
      this.byInstance.delete(instance);
      this.hand([...states.values()].map((state) => ({ ...state, stateJson: null })));
    }
    this.tellAll(false);
  }
}

/** By site, tab and topic. */
export function keyOf({ siteId, tabId, topic }: SeenPresence): string {
  return `${Buffer.from(siteId).toString('hex')} ${Buffer.from(tabId).toString('hex')} ${topic}`;
}
