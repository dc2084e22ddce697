import { AsyncLocalStorage } from 'node:async_hooks';
import { Random } from './random.ts';

/** The owner of running code: the worker of one tab, or the server. Timers of a dead owner never fire. */
export interface Owner {
  readonly name: string;
  isAlive: boolean;
  /** The time that its code seems to have taken, added to `performance.now()`. */
  spentMs?: number;
  /** This machine's clock: `Date.now()` for the code of this owner. */
  wallMs(): number;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly run: () => void;
  readonly everyMs: number | null;
  unref(): Timer;
  ref(): Timer;
}

const owners = new AsyncLocalStorage<Owner>();
const realSetImmediate = globalThis.setImmediate;

/** The owner of the running code. */
export function currentOwner(): Owner | undefined {
  return owners.getStore();
}

/**
 * The virtual time of one simulation. Replaces the timers, clocks and random sources of this thread, so that the real
 * code runs unchanged. Time stands still while code runs, so an hour takes only as long as its events.
 */
export class VirtualTime {
  /** True time. No clock in the simulation needs to match it. */
  nowMs = 1_763_683_200_000;
  /** Called when everything that one event triggered has settled. */
  afterEvent: () => void = () => undefined;
  /** Uncaught errors, as on a page. */
  readonly uncaught: unknown[] = [];
  private timers: Timer[] = [];
  private order = 0;
  private restore: (() => void)[] = [];

  /** Runs `body`, and everything that follows from it, as code of this owner. */
  as<T>(owner: Owner, body: () => T): T {
    return owners.run(owner, body);
  }

  /** For events between machines, which happen even if their owner has died. */
  after(delayMs: number, run: () => void): () => void {
    const timer = owners.exit(() => this.plan(delayMs, run, null));
    return () => this.cancel(timer);
  }

  /** Advances time and runs everything that is due. */
  async advance(durationMs: number): Promise<void> {
    const untilMs = this.nowMs + durationMs;
    await this.settle();
    for (let timer = this.timers[0]; timer !== undefined && timer.dueMs <= untilMs; timer = this.timers[0]) {
      this.timers.shift();
      this.nowMs = Math.max(this.nowMs, timer.dueMs);
      this.fire(timer);
      await this.settle();
    }
    this.nowMs = untilMs;
  }

  /**
   * Advances time until a promise settles. Throws an uncaught error: the promise may wait for something that the error
   * has ended.
   */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = (): void => void (isSettled = true);
    promise.then(settled, settled);
    await this.settle();
    while (!isSettled) {
      if (this.uncaught.length > 0) throw this.uncaught[0];
      await this.advance(1);
    }
    return promise;
  }

  /** Waits until everything that needs no time has settled. */
  async settle(): Promise<void> {
    // Between two timers, only promises are pending, and all of them settle before the next turn of the real event
    // loop.
    await new Promise((resolve) => void realSetImmediate(resolve));
    this.afterEvent();
  }

  /** Replaces this thread's timers and clocks until `uninstall`. */
  install(random: Random, globals: Readonly<Record<string, unknown>>): void {
    const plan = (callback: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): Timer =>
      this.plan(delayMs, () => callback(...args), null);
    this.replace(globalThis, {
      setTimeout: plan,
      setImmediate: (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
        this.plan(0, () => callback(...args), null),
      setInterval: (callback: (...args: unknown[]) => void, everyMs: number, ...args: unknown[]) =>
        this.plan(everyMs, () => callback(...args), everyMs),
      clearTimeout: (timer: Timer | undefined) => this.cancel(timer),
      clearImmediate: (timer: Timer | undefined) => this.cancel(timer),
      clearInterval: (timer: Timer | undefined) => this.cancel(timer),
      ...globals,
    });
    this.replace(Date, { now: () => currentOwner()?.wallMs() ?? this.nowMs });
    this.replace(performance, { now: () => this.nowMs + (currentOwner()?.spentMs ?? 0) });
    this.replace(Math, { random: () => random.next() });
    // A new log file of the write-ahead log draws random integers for its salt. No decision depends on them, so they
    // must not shift the numbers that follow.
    const salts = new Random(0x5a17);
    this.replace(crypto, {
      getRandomValues: <T extends Uint8Array | Int32Array>(into: T): T => {
        const from = into instanceof Uint8Array ? random : salts;
        for (let at = 0; at < into.length; at++) into[at] = from.below(256);
        return into;
      },
    });
  }

  uninstall(): void {
    for (const restore of this.restore) restore();
    this.restore = [];
    this.timers = [];
  }

  private replace(target: object, values: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(values)) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { value, configurable: true, writable: true });
      this.restore.push(() => {
        if (before === undefined) Reflect.deleteProperty(target, name);
        else Object.defineProperty(target, name, before);
      });
    }
  }

  private plan(delayMs: number, run: () => void, everyMs: number | null): Timer {
    const timer: Timer = {
      dueMs: this.nowMs + Math.ceil(Math.max(0, delayMs)), // clocks show whole milliseconds
      order: this.order++,
      owner: currentOwner(),
      run,
      everyMs,
      unref: () => timer,
      ref: () => timer,
    };
    this.insert(timer);
    return timer;
  }

  private insert(timer: Timer): void {
    if (timer.owner?.isAlive === false) return;
    let at = this.timers.length;
    // Most new timers are due after all others, so the search starts at the end.
    while (at > 0 && this.timers[at - 1]!.dueMs > timer.dueMs) at--;
    this.timers.splice(at, 0, timer);
  }

  private cancel(timer: Timer | undefined): void {
    const at = timer === undefined ? -1 : this.timers.indexOf(timer);
    if (at >= 0) this.timers.splice(at, 1);
  }

  private fire(timer: Timer): void {
    if (timer.owner?.isAlive === false) return;
    if (timer.everyMs !== null) this.insert(Object.assign(timer, { dueMs: this.nowMs + timer.everyMs }));
    try {
      if (timer.owner === undefined) owners.exit(timer.run);
      else owners.run(timer.owner, timer.run);
    } catch (thrown) {
      if (timer.owner === undefined || timer.owner.isAlive) this.uncaught.push(thrown);
    }
  }
}
