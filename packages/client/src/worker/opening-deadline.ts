import { RockpoolError } from '@rockpool/shared';
import { systemClock, type Clock } from './leader/clock.ts';

/**
 * External waits while a database opens:
 * - `storage`: the browser reports where it can store files, for which it needs no network
 * - `code`: SQLite and the other code of the app, from its server or a cache
 */
export type OpeningStage = 'storage' | 'code';

/** The code is 0.5 MB, so a minute suffices at 70 kbit/s or more. */
const DEADLINES_MS: Readonly<Record<OpeningStage, number>> = { storage: 15_000, code: 60_000 };

/** Rejects with `opening-stalled` if the work takes too long. The work itself cannot be cancelled. */
export function byOpeningDeadline<T>(stage: OpeningStage, work: Promise<T>, clock: Clock = systemClock): Promise<T> {
  const withinMs = DEADLINES_MS[stage];
  const done = new Promise<T>((resolve, reject) => {
    const cancel = clock.after(withinMs, () => reject(new RockpoolError('opening-stalled', { stage, withinMs })));
    work.then(resolve, reject).finally(cancel);
  });
  done.catch(() => undefined); // The caller awaits it later, or not at all if opening fails first.
  return done;
}
