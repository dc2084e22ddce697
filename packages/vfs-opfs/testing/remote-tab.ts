import type { ContractTab } from './contract-tab.ts';
import type { TabCommands, TabFailure } from './tab-commands.ts';
import type { TestMedium, WorkerCommands } from './tab.worker.ts';

/** How many databases more or less the tab has open after a command. */
const OPENED: Partial<Record<keyof WorkerCommands, number>> = { open: 1, close: -1, openBeside: 1, closeBeside: -1 };
/** Commands whose effect on the worker stays. */
const LASTING: readonly (keyof WorkerCommands)[] = ['setFull', 'setFreeBytes', 'openWithout'];

/** A tab in a worker of its own. Commands reject with a `TabFailure`. */
export class RemoteTab implements ContractTab {
  readonly #worker = new Worker(new URL('./tab.worker.ts', import.meta.url), { type: 'module' });
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (failure: TabFailure) => void }>();
  readonly medium: TestMedium;
  #count = 0;
  #openCount = 0;
  #isUnchanged = true;

  constructor(medium: TestMedium) {
    this.medium = medium;
    this.#worker.addEventListener('message', (event: MessageEvent<[number, never, TabFailure | undefined]>) => {
      const [id, value, failure] = event.data;
      const call = this.#waiting.get(id)!;
      this.#waiting.delete(id);
      if (failure === undefined) call.resolve(value);
      else call.reject(failure);
    });
  }

  call<K extends keyof TabCommands>(command: K, ...parameters: Parameters<TabCommands[K]>): ReturnType<TabCommands[K]> {
    return this.#send(command, parameters) as ReturnType<TabCommands[K]>;
  }

  /** Permanently removes a capability from this worker, then opens. */
  openWithout(...parameters: Parameters<WorkerCommands['openWithout']>): Promise<void> {
    return this.#send('openWithout', parameters) as Promise<void>;
  }

  capabilities(): ReturnType<WorkerCommands['capabilities']> {
    return this.#send('capabilities', []) as ReturnType<WorkerCommands['capabilities']>;
  }

  /** How often the worker requested a handle that another worker held. */
  refusedHandles(): ReturnType<WorkerCommands['refusedHandles']> {
    return this.#send('refusedHandles', []) as ReturnType<WorkerCommands['refusedHandles']>;
  }

  /** Whether another test can use the tab: it runs, has nothing open, and no command failed or has a lasting effect. */
  isReusable(): boolean {
    return this.#isUnchanged && this.#openCount === 0 && this.#waiting.size === 0;
  }

  terminate(): void {
    this.#isUnchanged = false;
    this.#worker.terminate();
  }

  #send(command: keyof WorkerCommands, parameters: readonly unknown[]): Promise<unknown> {
    this.#count += 1;
    const id = this.#count;
    if (LASTING.includes(command)) this.#isUnchanged = false;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        resolve: (value) => {
          this.#openCount += OPENED[command] ?? 0;
          resolve(value);
        },
        reject: (failure) => {
          this.#isUnchanged = false;
          reject(failure);
        },
      });
      this.#worker.postMessage([id, this.medium, command, parameters]);
    });
  }
}
