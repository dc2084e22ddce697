import type { Audit, ErrorData, Hello, Presence, Push } from '@rockpool/shared';
import type { BusState } from '../bus/bus.ts';
import type { NatsOptions } from '../bus/nats-bus.ts';
import type { BackupState } from '../backup/backup-state.ts';
import type { HostRules } from '../database/database-host.ts';
import type { HistoryRequest } from '../history/answer-history.ts';
import type { PastMoment } from '../history/past-moment.ts';
import type { PastState } from '../history/past-states.ts';
import type { LogFields } from '../observe/log-line.ts';
import type { FollowedCommit, PushTrace, TracedStage } from '../observe/push-trace.ts';
import type { PostgresSource } from '../postgres/shard.ts';
import type { PresenceSender } from '../presence/presence-room.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';

/*
 * The messages between the accepting thread and the threads that own databases, as arrays: one array per turn of the
 * event loop. The accepting thread numbers sessions and calls.
 */

/** The options of a thread (`workerData`). */
export interface ThreadOptions {
  /** The number of the thread, from 0. */
  readonly index: number;
  /** The number of threads that own databases. */
  readonly count: number;
  readonly dataDir: string;
  /** The schema in the encoding of encodeSchema. */
  readonly schema: string;
  /** Further schemas of clients. */
  readonly olderSchemas: readonly string[];
  readonly postgres: PostgresSource | null;
  readonly postgresConnections: number;
  readonly nats: NatsOptions | undefined;
  readonly documentThreads: number;
  readonly rules: HostRules;
}

/** The rights with which a session joins, as plain data. */
export interface SentAccess {
  readonly principal: { readonly id: string; readonly formerly?: readonly string[] };
  readonly canWrite: boolean;
  readonly nowMs: number;
}

/** The databases that may not grow. */
export interface LimitedTenants {
  /** Their tenant has reached its limit. */
  readonly full: ReadonlySet<string>;
  /** The host cannot name their tenant. */
  readonly unnamed: ReadonlySet<string>;
}

export type ToOwner =
  /** Opens the database of the hello if it is closed, and begins a session. `joined` or `failed` follows. */
  | {
      readonly kind: 'join';
      readonly session: number;
      readonly site: string;
      readonly hello: Hello;
      readonly access: SentAccess;
    }
  /** `isRevoked`: see Subscriber. */
  | { readonly kind: 'leave'; readonly session: number; readonly isRevoked: boolean }
  /** `settled` follows. */
  | {
      readonly kind: 'push';
      readonly session: number;
      readonly call: number;
      readonly push: Push;
      readonly principal: string;
      readonly receivedMs: number;
      /** Null if its span is not recorded. */
      readonly trace: Pick<PushTrace, 'traceparent' | 'startMs'> | null;
    }
  | {
      readonly kind: 'confirm';
      readonly session: number;
      readonly cursor: number;
      readonly lastAckedSequence: number;
    }
  | { readonly kind: 'audit'; readonly session: number; readonly audit: Audit }
  | {
      readonly kind: 'show';
      readonly session: number;
      readonly presence: Presence;
      readonly sender: PresenceSender;
    }
  /** `snapshot` follows. */
  | { readonly kind: 'snapshot'; readonly call: number; readonly databaseId: string; readonly schemaHash: string }
  /** `history` follows. */
  | {
      readonly kind: 'history';
      readonly call: number;
      readonly databaseId: string;
      readonly request: HistoryRequest;
      readonly nowMs: number;
    }
  /** `past-state` follows. */
  | {
      readonly kind: 'past-state';
      readonly call: number;
      readonly databaseId: string;
      readonly moment: PastMoment;
      readonly nowMs: number;
    }
  | { readonly kind: 'take-offline'; readonly databaseId: string; readonly error: ErrorData }
  /** `held` follows. */
  | { readonly kind: 'hold'; readonly call: number; readonly databaseId: string; readonly error: ErrorData }
  | { readonly kind: 'release'; readonly databaseId: string }
  | ({ readonly kind: 'limited-tenants' } & LimitedTenants)
  /** Decides all pushes and closes the files. `closed` follows. */
  | { readonly kind: 'close' };

export type FromOwner =
  | { readonly kind: 'started' }
  /** Sends the same messages to each of the sessions. */
  | { readonly kind: 'send'; readonly sessions: number[]; readonly messages: readonly Uint8Array[] }
  | { readonly kind: 'joined'; readonly session: number }
  /** The session has ended. `settled` still follows for the pushes of these calls, which are queued. */
  | { readonly kind: 'failed'; readonly session: number; readonly error: ErrorData; readonly queued: readonly number[] }
  | {
      readonly kind: 'settled';
      readonly session: number;
      readonly call: number;
      readonly refusal: ErrorData | null;
      /** The stages of a push whose span is recorded. */
      readonly stages?: readonly TracedStage[];
    }
  | { readonly kind: 'audit-differs'; readonly session: number; readonly tableIds: readonly number[] }
  | { readonly kind: 'snapshot'; readonly call: number; readonly snapshot: Snapshot | null }
  | { readonly kind: 'history'; readonly call: number; readonly answer: Uint8Array }
  | { readonly kind: 'past-state'; readonly call: number; readonly state: PastState }
  | { readonly kind: 'held'; readonly call: number }
  | { readonly kind: 'call-failed'; readonly call: number; readonly error: ErrorData }
  | { readonly kind: 'log'; readonly event: string; readonly fields: LogFields }
  | { readonly kind: 'followed'; readonly followed: FollowedCommit }
  | { readonly kind: 'commit-duration'; readonly durationMs: number }
  | { readonly kind: 'state'; readonly state: ThreadState }
  | { readonly kind: 'closed' };

/** The report that a thread sends every second. */
export interface ThreadState {
  readonly openCount: number;
  readonly damagedCount: number;
  /** The 99th percentile of its event loop's delay since the last report. */
  readonly loopDelaySeconds: number;
  /** The share of the time since the last report in which it was busy. */
  readonly utilization: number;
  /** Null for a server of one instance. */
  readonly bus: BusState | null;
  /** Null if there is no continuous backup. */
  readonly backup: BackupState | null;
}

export const STATE_INTERVAL_MS = 1_000;
