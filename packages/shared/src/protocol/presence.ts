import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { ID_BYTES } from './hello.ts';
import { MAX_PRESENCE_STATE_BYTES, MAX_PRESENCE_STATES, MAX_PRESENCE_TOPIC_BYTES } from './limits.ts';

/** What one tab shows others about one topic. It is never stored and ends with the connection. */
export interface PresenceState {
  readonly tabId: Uint8Array;
  /** Empty for the database; otherwise clients choose the meaning, such as a document. */
  readonly topic: string;
  /** Null if the tab no longer shows it. */
  readonly stateJson: string | null;
}

/**
 * Client to server: the changed presence states of the tabs of this site. The first one, which may be empty, subscribes
 * the connection to those of others.
 */
export interface Presence {
  readonly type: 'presence';
  readonly states: readonly PresenceState[];
}

/** A presence state as the server forwards it. The server vouches for the principal, the time and the site. */
export interface SeenPresence extends PresenceState {
  readonly siteId: Uint8Array;
  readonly principal: string;
  /** Empty if the token has none. */
  readonly name: string;
  /** The server's clock when this tab first showed something, in ms since 1970. */
  readonly sinceMs: number;
}

/** Server to client: the presence of all sites, including this one. */
export interface PresenceUpdate {
  readonly type: 'presence-update';
  /** True: `seen` has all states and replaces earlier ones. False: `seen` has only the states that changed. */
  readonly whole: boolean;
  readonly seen: readonly SeenPresence[];
}

/** The smallest state: tab, topic and state, all empty. */
const MIN_STATE_BYTES = ID_BYTES + 2;
/** Adds site, principal, name and time. */
const MIN_SEEN_BYTES = MIN_STATE_BYTES + ID_BYTES + 3;

export function writePresence(writer: ByteWriter, { states }: Presence): void {
  writer.varint(states.length);
  for (const state of states) writeState(writer, state);
}

export function readPresence(reader: ByteReader): Presence {
  const count = reader.count(MIN_STATE_BYTES);
  if (count > MAX_PRESENCE_STATES) reader.fail('the message has too many states');
  return { type: 'presence', states: Array.from({ length: count }, () => readState(reader)) };
}

export function writePresenceUpdate(writer: ByteWriter, { whole, seen }: PresenceUpdate): void {
  writer.u8(whole ? 1 : 0);
  writer.varint(seen.length);
  for (const state of seen) {
    writer.bytes(state.siteId);
    writer.text(state.principal);
    writer.text(state.name);
    writer.varint(state.sinceMs);
    writeState(writer, state);
  }
}

export function readPresenceUpdate(reader: ByteReader): PresenceUpdate {
  const whole = reader.flag();
  const count = reader.count(MIN_SEEN_BYTES);
  return {
    type: 'presence-update',
    whole,
    seen: Array.from({ length: count }, () => ({
      siteId: reader.bytes(ID_BYTES).slice(),
      principal: reader.text(),
      name: reader.text(),
      sinceMs: reader.varint(),
      ...readState(reader),
    })),
  };
}

// No JSON text is empty, so an empty text means no state.
function writeState(writer: ByteWriter, { tabId, topic, stateJson }: PresenceState): void {
  writer.bytes(tabId);
  writer.text(topic);
  writer.text(stateJson ?? '');
}

function readState(reader: ByteReader): PresenceState {
  const tabId = reader.bytes(ID_BYTES).slice();
  const topic = readShortText(reader, MAX_PRESENCE_TOPIC_BYTES, 'a topic is too long');
  const stateJson = readShortText(reader, MAX_PRESENCE_STATE_BYTES, 'a state is too large');
  return { tabId, topic, stateJson: stateJson === '' ? null : stateJson };
}

function readShortText(reader: ByteReader, maxBytes: number, problem: string): string {
  const bytes = reader.lengthPrefixed();
  if (bytes.length > maxBytes) reader.fail(problem);
  return reader.utf8(bytes);
}
