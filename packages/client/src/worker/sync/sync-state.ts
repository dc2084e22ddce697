import type {
  AuditAnswer,
  Delivery,
  DeliveryPart,
  ErrorData,
  PresenceUpdate,
  ServerMessage,
  Welcome,
} from '@rockpool/shared';
import { FIRST_SNAPSHOT_WAIT, type SnapshotWait } from './snapshot-wait.ts';
import { mayReload, remedyOf, type Failing } from './stuck-stage.ts';

// What the sync machine remembers, the events that it receives and the effects that it requests. The transitions are in
// sync-machine.ts.

export type Phase = 'stopped' | 'paused' | 'waiting' | 'authorizing' | 'connecting' | 'greeting' | 'fetching' | 'live';

export interface MachineState {
  readonly phase: Phase;
  /** Failures in a row without a delivery in between; a welcome alone does not count as a success. */
  readonly failures: number;
  readonly trouble: ErrorData | null;
  readonly wakeAtMs: number | null;
  /** The start of the current phase or stage. */
  readonly phaseSinceMs: number;
  /** The current wait for the snapshot while one is fetched. */
  readonly snapshotWait: SnapshotWait;
  readonly lastHeardMs: number | null;
  /** When bytes last arrived, or were last taken by the network. */
  readonly lastMovedMs: number;
  /** When the last ping was sent, or the connection began. */
  readonly pingSentMs: number;
  /**
   * The deadline for any message on a live connection, after the device has reported that it is offline. Without a
   * message the connection is given up. Null if there is no such check.
   */
  readonly checkUntilMs: number | null;
  readonly sentUpTo: number;
  readonly lastAckedSequence: number;
  /** The time from which a sent changeset has waited for its outcome. */
  readonly waitingSinceMs: number | null;
  /** The time since which the first delivery, or the rest of one, is awaited. */
  readonly deliverySinceMs: number | null;
  readonly failing: Failing | null;
  /** Why the server refused the last push. Nothing is pushed until then. */
  readonly refusal: Refusal | null;
  /** This device's clock minus the server's. */
  readonly clockOffsetMs: number | null;
  /** As the last welcome said, perhaps in an earlier session; null before the first one. */
  readonly canWrite: boolean | null;
  /** The first delivery after the welcome has arrived: the local state equals the server's at that time. */
  readonly caughtUp: boolean;
  /** Whether the first delivery will be a full resync. */
  readonly awaitsWhole: boolean;
  /** Whether the first delivery will have unknown outcomes. */
  readonly awaitsOutcomes: boolean;
  /** The server has a changeset from another copy of this file, and was asked for the first one that differs. */
  readonly copied: boolean;
}

export interface Refusal {
  readonly error: ErrorData;
  readonly untilMs: number;
}

export type MachineEvent =
  | { readonly type: 'start' }
  | { readonly type: 'stop' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** The device is online again, or the user asked to retry at once. */
  | { readonly type: 'try-now' }
  /** The device reports that it is offline. A server on this device or behind another network may still answer. */
  | { readonly type: 'check' }
  | { readonly type: 'wake' }
  /** The app returned a token. */
  | { readonly type: 'token-had' }
  /** The hello was sent, with the last changeset whose outcome is known. */
  | { readonly type: 'hello-sent'; readonly lastAckedSequence: number }
  | { readonly type: 'message'; readonly message: ServerMessage }
  /** A part of a long message has arrived, or the network has taken a part of what was sent. */
  | { readonly type: 'progress'; readonly isReceived: boolean }
  /** Deliveries of a live connection, to be applied together. */
  | { readonly type: 'deliveries'; readonly deliveries: Deliveries }
  /** The reason why the connection or the attempt ended. */
  | { readonly type: 'failed'; readonly error: ErrorData }
  /** A delivery could not be applied. */
  | { readonly type: 'apply-failed'; readonly error: ErrorData }
  | { readonly type: 'applied' }
  /** Rows differ from the server's even after row-by-row repairs. */
  | { readonly type: 'diverged'; readonly error: ErrorData }
  /** The outbox grew. */
  | { readonly type: 'committed' }
  | { readonly type: 'pushed'; readonly sentUpTo: number }
  /** The welcome shows that the server has changesets of another copy of this file. */
  | { readonly type: 'copied' }
  /** This database continues as a new site, or does so after the next welcome. */
  | { readonly type: 'renumbered' }
  /** The download progressed or entered its next stage. */
  | { readonly type: 'snapshot-progress'; readonly wait: SnapshotWait }
  /** The download ended, with or without a file. */
  | { readonly type: 'snapshot-taken' };

export type Effect =
  /** Requests a token, opens a socket and sends a hello. */
  | { readonly type: 'connect' }
  | { readonly type: 'disconnect' }
  /** Downloads the server's snapshot. */
  | { readonly type: 'take-snapshot' }
  /** Stops taking snapshots: full resyncs arrive as deliveries. */
  | { readonly type: 'give-up-snapshot'; readonly error: ErrorData }
  | { readonly type: 'ping' }
  /** Pushes the changesets after this sequence that fit into the window. */
  | { readonly type: 'push'; readonly after: number }
  | { readonly type: 'welcome'; readonly welcome: Welcome }
  /** The server sent its time. */
  | { readonly type: 'note-server-time'; readonly serverNowMs: number }
  | { readonly type: 'audit-answer'; readonly answer: AuditAnswer }
  | { readonly type: 'presence'; readonly update: PresenceUpdate }
  /** Keeps these rows for the delivery that follows. */
  | { readonly type: 'stage'; readonly part: DeliveryPart }
  | { readonly type: 'apply'; readonly deliveries: Deliveries }
  /** Continues as a new site with the changesets from this sequence on. */
  | { readonly type: 'become-new-site'; readonly firstOwn: number }
  /** Requests a new worker after everything else failed. */
  | { readonly type: 'restart' };

/** One or more, in order. A full resync comes alone. */
export type Deliveries = readonly [Delivery, ...Delivery[]];

export const INITIAL_STATE: MachineState = {
  phase: 'stopped',
  failures: 0,
  trouble: null,
  wakeAtMs: null,
  phaseSinceMs: 0,
  snapshotWait: FIRST_SNAPSHOT_WAIT,
  lastHeardMs: null,
  lastMovedMs: 0,
  pingSentMs: 0,
  checkUntilMs: null,
  sentUpTo: 0,
  lastAckedSequence: 0,
  waitingSinceMs: null,
  deliverySinceMs: null,
  failing: null,
  refusal: null,
  clockOffsetMs: null,
  canWrite: null,
  caughtUp: false,
  awaitsWhole: false,
  awaitsOutcomes: false,
  copied: false,
};

/** Whether the next hello asks for a full resync, because incremental deliveries do not repair the local state. */
export function asksFullResync({ failing }: MachineState): boolean {
  return (
    failing !== null && failing.stage !== 'outcome' && mayReload(failing.error) && remedyOf(failing) !== 'reconnect'
  );
}

export function mayPush(state: MachineState): boolean {
  const { phase, canWrite, refusal, awaitsWhole, awaitsOutcomes, copied } = state;
  return phase === 'live' && canWrite === true && refusal === null && !awaitsWhole && !awaitsOutcomes && !copied;
}
