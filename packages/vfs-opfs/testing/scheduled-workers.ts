import { vi } from 'vitest';
import type { LockMode } from '../src/locks/storage-locks.ts';
import type { FileMedium } from '../src/media/medium.ts';
import type { Choose } from './every-schedule.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedMedium } from './simulated-disk.ts';

/** How far schedules may deviate from one worker running after the other. */
export interface ScheduleBounds {
  /** The maximum number of times that a worker that could continue waits for another one. */
  readonly preemptions: number;
  /** The maximum number of workers that die, at any step or between any two disk calls. */
  readonly deaths: number;
  /** For a control test: grants every lock immediately. */
  readonly areLocksBroken?: boolean;
}

/** A worker under the scheduler: its medium, where the scheduler decides when each asynchronous step happens. */
export interface ScheduledWorker {
  readonly name: string;
  readonly medium: FileMedium;
}

interface Worker extends ScheduledWorker {
  readonly own: SimulatedMedium;
  readonly steps: (() => void)[];
  isDone: boolean;
  isDead: boolean;
}

/**
 * Workers that run the production code on one simulated disk, one at a time. Everything asynchronous (a lock requested
 * or granted, a file opened, a signal received) happens when the scheduler chooses. Time passes only when no other
 * event is possible. Requires fake timers.
 */
export class ScheduledWorkers {
  readonly disk: SimulatedDisk = new SimulatedDisk();
  /** Errors that ended a worker that had not died. */
  readonly failures: string[] = [];
  readonly #choose: Choose;
  readonly #bounds: { preemptions: number; deaths: number };
  readonly #areLocksBroken: boolean;
  readonly #workers: Worker[] = [];
  #current: Worker | undefined;

  constructor(choose: Choose, bounds: ScheduleBounds) {
    this.#choose = choose;
    this.#bounds = { ...bounds };
    this.#areLocksBroken = bounds.areLocksBroken ?? false;
    this.disk.observer = () => this.#mayDie();
  }

  add(name: string, work: (worker: ScheduledWorker) => Promise<void>): void {
    const own = this.disk.medium();
    const worker: Worker = {
      name,
      own,
      steps: [],
      isDone: false,
      isDead: false,
      medium: undefined as unknown as FileMedium,
    };
    Object.assign(worker, { medium: this.#scheduledMedium(worker) });
    worker.steps.push(() => {
      work(worker).then(
        () => {
          worker.isDone = true;
        },
        (error: unknown) => {
          worker.isDone = true;
          if (!worker.isDead) this.failures.push(`${name}: ${String(error)}`);
        },
      );
    });
    this.#workers.push(worker);
  }

  /** Runs all workers until they finish or die. Throws when a worker can never continue. */
  async run(): Promise<void> {
    for (let idle = 0; this.#workers.some((worker) => !worker.isDone && !worker.isDead);) {
      const worker = this.#next();
      if (worker === undefined) {
        idle += 1;
        if (idle === 100 || vi.getTimerCount() === 0) throw new Error(`no worker can continue: ${this.#waiting()}`);
        vi.advanceTimersToNextTimer();
      } else {
        idle = 0;
        this.#current = worker;
        if (!this.#mayDie()) worker.steps.shift()!();
      }
      await settleReactions();
    }
  }

  #waiting(): string {
    return this.#workers
      .filter((worker) => !worker.isDone && !worker.isDead)
      .map(({ name }) => name)
      .join(', ');
  }

  /** Chooses the next worker: the one that ran last, unless it cannot continue or is preempted. */
  #next(): Worker | undefined {
    const ready = this.#workers.filter((worker) => !worker.isDead && worker.steps.length > 0);
    const isPreemption = this.#current !== undefined && ready.includes(this.#current);
    if (isPreemption && this.#bounds.preemptions === 0) return this.#current;
    const inOrder = isPreemption ? [this.#current!, ...ready.filter((worker) => worker !== this.#current)] : ready;
    if (inOrder.length <= 1) return inOrder[0];
    const chosen = inOrder[this.#choose(inOrder.length)]!;
    if (isPreemption && chosen !== this.#current) this.#bounds.preemptions -= 1;
    return chosen;
  }

  /** Decides whether the running worker dies here. */
  #mayDie(): boolean {
    const worker = this.#current;
    if (worker === undefined || worker.isDead || this.#bounds.deaths === 0 || this.#choose(2) === 0) return false;
    this.#bounds.deaths -= 1;
    worker.isDead = true;
    worker.own.kill();
    return true;
  }

  /** Waits for a step from the scheduler. A dead worker never gets one. */
  #step<T>(worker: Worker, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      worker.steps.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  #scheduledMedium(worker: Worker): FileMedium {
    const { own } = worker;
    const request = async (name: string, mode: LockMode, timeoutMs: number): Promise<(() => void) | undefined> => {
      if (this.#areLocksBroken) return this.#step(worker, () => () => undefined);
      const granted = await this.#step(worker, () => own.locks.request(name, mode, timeoutMs));
      return this.#step(worker, () => granted);
    };
    return {
      ...own,
      locks: { request },
      signals: {
        post: (name) => own.signals.post(name),
        listen: (name, onSignal) => own.signals.listen(name, () => void this.#step(worker, onSignal)),
      },
      open: async (fileName, create) => {
        await this.#step(worker, () => undefined);
        return own.open(fileName, create);
      },
    };
  }
}

/** The maximum length of a chain of reactions to one step. */
const MAX_CHAIN = 64;

/** Waits until all reactions to a step that need no other step have happened. */
async function settleReactions(): Promise<void> {
  for (let count = 0; count < MAX_CHAIN; count += 1) await Promise.resolve();
}
