import { vi } from 'vitest';
import { KeptThread } from '../src/store/kept-thread.ts';

export interface HeldAnswers {
  /** Resolves once a thread has received a task. */
  readonly begun: Promise<void>;
  /** Lets the answers of all tasks arrive, also of later ones. */
  release(): void;
}

/**
 * Runs a test in which the threads of kept-thread.ts work, but their answers arrive only after `release`. Has no effect
 * on databases that threads own.
 */
export async function holdingAnswers(body: (held: HeldAnswers) => Promise<void>): Promise<void> {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const threads = KeptThread.prototype as KeptThread<unknown, unknown>;
  const { run } = threads;
  const spy = vi.spyOn(threads, 'run').mockImplementation(async function (this: typeof threads, task) {
    const answer = run.call(this, task);
    answer.catch(() => undefined); // The caller receives the rejection later.
    begun.resolve();
    await released.promise;
    return answer;
  });
  try {
    await body({ begun: begun.promise, release: released.resolve });
  } finally {
    released.resolve();
    spy.mockRestore();
  }
}
