import type { ModelClock } from './postgres-model.ts';

/** The clock for tests of the model without virtual time. */
export const REAL_CLOCK: ModelClock = {
  nowMs: () => Date.now(),
  after: (delayMs: number, run: () => void): (() => void) => {
    const timer = delayMs === 0 ? setImmediate(run) : setTimeout(run, delayMs).unref();
    return () => {
      clearTimeout(timer as NodeJS.Timeout);
      clearImmediate(timer as NodeJS.Immediate);
    };
  },
};
