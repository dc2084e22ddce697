import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { RockpoolError } from '@rockpool/shared';
import type { DocumentWork, WorkedDocument } from './document-work.ts';
import type { DocumentAnswer } from './document-worker.ts';

export interface DocumentPoolOptions {
  /** Threads at most. Default: the cores but one, at least 1 and at most 4. */
  readonly size?: number;
  /** For one piece of work. Default 10 s, far above what honest edits take. */
  readonly deadlineMs?: number;
  /** Of a worker's heap. Default 512 MB. */
  readonly maxHeapMb?: number;
  /** The worker's script, and data for it. */
  readonly script?: URL;
  readonly workerData?: unknown;
}

interface Job {
  readonly work: DocumentWork;
  readonly resolve: (result: WorkedDocument) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Threads that work on documents. They are started when they are needed, and keep the documents open that they had
 * last. A piece of work that takes too long or too much memory, or ends its thread, fails with `document-too-costly`;
 * the thread is replaced.
 */
export class DocumentPool {
  private readonly options: Required<DocumentPoolOptions>;
  private readonly workers = new Set<Worker>();
  // The one used last is the first to be used again: it may have the document open.
  private idle: Worker[] = [];
  private waiting: Job[] = [];
  private isClosed = false;

  constructor({
    size = Math.min(4, Math.max(1, availableParallelism() - 1)),
    deadlineMs = 10_000,
    maxHeapMb = 512,
    script = new URL('./document-worker.ts', import.meta.url),
    workerData = null,
  }: DocumentPoolOptions = {}) {
    this.options = { size, deadlineMs, maxHeapMb, script, workerData };
  }

  /**
   * In order of arrival, as threads are free. Rejects with what the work throws, `document-too-costly`,
   * `database-unavailable` once it is closed, or whatever keeps a thread from being started.
   */
  run(work: DocumentWork): Promise<WorkedDocument> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) return reject(stopped());
      this.waiting.push({ work, resolve, reject });
      this.next();
    });
  }

  /** Ends the threads. What they have not done fails. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { reject } of this.waiting.splice(0)) reject(stopped());
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  private next(): void {
    while (this.waiting.length > 0) {
      if (this.idle.length === 0 && this.workers.size >= this.options.size) return;
      const job = this.waiting.shift() as Job;
      try {
        this.give(this.idle.pop() ?? this.start(), job);
      } catch (thrown) {
        job.reject(thrown);
      }
    }
  }

  private start(): Worker {
    const { script, workerData, maxHeapMb } = this.options;
    const worker = new Worker(script, { workerData, resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
    this.workers.add(worker);
    // Told by `exit` as well, which always comes.
    worker.on('error', () => undefined);
    worker.on('exit', () => this.forget(worker));
    return worker;
  }

  private give(worker: Worker, { work, resolve, reject }: Job): void {
    const onMessage = (answer: DocumentAnswer): void => {
      release();
      this.idle.push(worker);
      worker.unref();
      if ('result' in answer) resolve(answer.result);
      else reject(RockpoolError.fromData(answer.error));
      this.next();
    };
    const fail = (problem: string): void => {
      release();
      this.forget(worker);
      void worker.terminate();
      reject(this.isClosed ? stopped() : new RockpoolError('document-too-costly', { problem }));
      this.next();
    };
    const onExit = (): void => fail('the thread ended');
    const timer = setTimeout(() => fail('time'), this.options.deadlineMs);
    const release = (): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('exit', onExit);
    };
    worker.on('message', onMessage).on('exit', onExit);
    worker.ref();
    worker.postMessage(work);
  }

  private forget(worker: Worker): void {
    this.workers.delete(worker);
    this.idle = this.idle.filter((other) => other !== worker);
  }
}

function stopped(): RockpoolError {
  return new RockpoolError('database-unavailable', { problem: 'the server stops' });
}
