import type { LockMode, StorageLocks } from './storage-locks.ts';
import type { StorageSignals } from './storage-signals.ts';

interface Waiter {
  readonly owner: InProcessOwner;
  readonly mode: LockMode;
  readonly grant: () => void;
}

interface Queue {
  readonly held: Set<Waiter>;
  readonly waiting: Waiter[];
}

/** Locks and signals within one process, for the memory medium and for tests. Grants in the order of Web Locks. */
export class InProcessLocks {
  readonly #queues = new Map<string, Queue>();
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Creates an owner of locks, whose death frees them. */
  owner(): InProcessOwner {
    return new InProcessOwner(this.#queues, this.#listeners);
  }
}

interface Listener {
  readonly owner: InProcessOwner;
  readonly onSignal: () => void;
}

/** One worker's view of the locks. `die()` frees all its locks, as the end of a worker does. */
export class InProcessOwner implements StorageLocks, StorageSignals {
  readonly #queues: Map<string, Queue>;
  readonly #listeners: Map<string, Set<Listener>>;
  /** A frozen owner receives no signals, like a frozen tab. */
  frozen = false;

  constructor(queues: Map<string, Queue>, listeners: Map<string, Set<Listener>>) {
    this.#queues = queues;
    this.#listeners = listeners;
  }

  request(name: string, mode: LockMode, timeoutMs: number): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(name) ?? { held: new Set<Waiter>(), waiting: [] };
    this.#queues.set(name, queue);
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const waiter: Waiter = {
        owner: this,
        mode,
        grant: () => {
          clearTimeout(timer);
          resolve(() => {
            queue.held.delete(waiter);
            this.#serve(queue);
          });
        },
      };
      queue.waiting.push(waiter);
      this.#serve(queue);
      if (queue.held.has(waiter)) return;
      const giveUp = (): void => {
        const index = queue.waiting.indexOf(waiter);
        if (index >= 0) queue.waiting.splice(index, 1);
        this.#serve(queue);
        resolve(undefined);
      };
      if (timeoutMs === 0) giveUp();
      else timer = setTimeout(giveUp, timeoutMs);
    });
  }

  post(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      if (!listener.owner.frozen) queueMicrotask(listener.onSignal);
    }
  }

  listen(name: string, onSignal: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set<Listener>();
    this.#listeners.set(name, listeners);
    const listener: Listener = { owner: this, onSignal };
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  die(): void {
    for (const listeners of this.#listeners.values()) {
      for (const listener of listeners) if (listener.owner === this) listeners.delete(listener);
    }
    for (const queue of this.#queues.values()) {
      for (const waiter of queue.held) if (waiter.owner === this) queue.held.delete(waiter);
      for (let index = queue.waiting.length - 1; index >= 0; index -= 1) {
        if (queue.waiting[index]?.owner === this) queue.waiting.splice(index, 1);
      }
      this.#serve(queue);
    }
  }

  #serve(queue: Queue): void {
    for (let next = queue.waiting[0]; next !== undefined; next = queue.waiting[0]) {
      const blocked =
        next.mode === 'exclusive' ? queue.held.size > 0 : [...queue.held].some((held) => held.mode === 'exclusive');
      if (blocked) return;
      queue.waiting.shift();
      queue.held.add(next);
      next.grant();
    }
  }
}
