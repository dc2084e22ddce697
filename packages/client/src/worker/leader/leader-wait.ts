import { RockpoolError } from '@rockpool/shared';
import type { LeaderMessage } from './channel-message.ts';
import type { Clock } from './clock.ts';
import { REQUEST_DEADLINE_MS } from './leader-link.ts';

/**
 * How long an opening tab waits for the leader's announcement or a sign of progress. One statement of a migration or of
 * the app keeps the leader from sending either, and loading the code may take a minute. If an open leader is stuck, its
 * page replaces the worker within 65 s (TabWorker), and this tab leads.
 */
const ANNOUNCEMENT_DEADLINE_MS = 75_000;

/** An opening tab reports after this time without a sign: a leader that is not busy answers within milliseconds. */
const REPORTED_AFTER_MS = REQUEST_DEADLINE_MS;

export interface LeaderWaitOptions {
  readonly clock: Clock;
  readonly sayHello: () => void;
  /** Called once, when the leader has given no sign for ten seconds, with `storage-busy`. */
  readonly onSilence: (error: RockpoolError) => void;
}

/** An opening tab's wait for the leader's announcement. */
export interface LeaderWait {
  /** Rejects with `storage-busy` after the deadline. */
  readonly announced: Promise<LeaderMessage>;
  onAnnounced(leader: LeaderMessage): void;
  /** Called when a tab that opens the database has made progress: the deadline begins again. */
  onSign(): void;
  stop(): void;
}

export function waitForLeader({ clock, sayHello, onSilence }: LeaderWaitOptions): LeaderWait {
  const { promise: announced, resolve, reject } = Promise.withResolvers<LeaderMessage>();
  let isReported = false;
  let stop: () => void = () => undefined;
  const onSign = (): void => {
    stop();
    const timers = [
      clock.after(REPORTED_AFTER_MS, () => {
        sayHello(); // In case a message was lost.
        if (!isReported) onSilence(leaderBusy(REPORTED_AFTER_MS));
        isReported = true;
      }),
      clock.after(ANNOUNCEMENT_DEADLINE_MS, () => reject(leaderBusy(ANNOUNCEMENT_DEADLINE_MS))),
    ];
    stop = () => {
      for (const cancel of timers) cancel();
    };
  };
  onSign();
  sayHello();
  return { announced, onAnnounced: resolve, onSign, stop: () => stop() };
}

function leaderBusy(waitedMs: number): RockpoolError {
  return new RockpoolError('storage-busy', { waitedMs, waitedFor: 'the leader tab' });
}
