import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { RockpoolError } from '@rockpool/shared';
import { READY, type DocumentAnswer } from './document-answer.ts';
import type { DocumentWork, WorkedDocument } from './document-work.ts';

export interface DocumentPoolOptions {
  /** Maximum number of threads. Default: the number of cores minus 1, between 1 and 4. */
  readonly size?: number;
  /** Time limit of one piece of work. Default 10 s, far above the duration of honest edits. */
  readonly deadlineMs?: number;
  /** Maximum heap of a worker. Default 512 MB. */
  readonly maxHeapMb?: number;
  /** The worker's script and its `workerData`. */
  readonly script?: URL;
  readonly workerData?: unknown;
}

/** Time limit for a thread to load its script, which takes seconds on a busy machine. */
const START_DEADLINE_MS = 60_000;

interface Job {
  readonly work: DocumentWork;
  readonly resolve: (result: WorkedDocument) => void;
  readonly reject: (error: unknown) => void;
  /** Whether the work must have a thread of its own, because the thread that had it ended. Default: false. */
  readonly needsNewThread?: boolean;
}

/**
 * Threads for work on documents, started on demand. Each keeps the documents of its last work in memory. Work that
 * takes too long or too much memory, or ends its thread, fails with `document-too-costly`, and the thread is replaced.
 * A thread that has worked before may have ended because of that, so the work is then repeated in a new thread.
 */
export class DocumentPool {
  private readonly options: Required<DocumentPoolOptions>;
  private readonly workers = new Set<Worker>();
  /** The threads that have loaded their script. */
  private readonly ready = new WeakSet<Worker>();
  /** The threads that have done work. */
  private readonly used = new WeakSet<Worker>();
  // A stack, because the thread that was used last may have the document in memory.
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
   * Runs work in order of arrival, as threads become free. Rejects with the work's error, `document-too-costly`,
   * `database-unavailable` after `close`, or the error of a thread that cannot be started or cannot load its script.
   */
  run(work: DocumentWork): Promise<WorkedDocument> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) return reject(stopped());
      this.waiting.push({ work, resolve, reject });
      this.next();
    });
  }

  /** Ends the threads. Unfinished work fails with `database-unavailable`. */
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
        this.give((job.needsNewThread ? undefined : this.idle.pop()) ?? this.start(), job);
      } catch (thrown) {
        job.reject(thrown);
      }
    }
  }

  private start(): Worker {
    const { script, workerData, maxHeapMb } = this.options;
    const worker = new Worker(script, { workerData, resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
    this.workers.add(worker);
    worker.once('message', () => this.ready.add(worker));
    // The `exit` event that always follows is handled.
    worker.on('error', () => undefined);
    worker.on('exit', () => this.forget(worker));
    return worker;
  }

  private give(worker: Worker, job: Job): void {
    const { work, resolve, reject } = job;
    const { deadlineMs } = this.options;
    let timer: NodeJS.Timeout | undefined;
    let turn: NodeJS.Immediate | undefined;
    const stopTimer = (): void => {
      clearTimeout(timer);
      clearImmediate(turn);
    };
    const limit = (ms: number): void => {
      stopTimer();
      // A whole turn of the event loop, in which an answer arrives that waited while this thread was busy or suspended.
      const afterTurn = (run: () => void): void => void (turn = setImmediate(() => (turn = setImmediate(run))));
      timer = setTimeout(() => afterTurn(() => fail('time')), ms);
    };
    const onMessage = (answer: DocumentAnswer | typeof READY): void => {
      if (answer === READY) return limit(deadlineMs);
      release();
      this.used.add(worker);
      this.idle.push(worker);
      worker.unref();
      if ('result' in answer) resolve(answer.result);
      else reject(RockpoolError.fromData(answer.error));
      this.next();
    };
    let thrown: unknown = null;
    const onError = (error: unknown): void => void (thrown = error);
    const fail = (problem: string): void => {
      release();
      this.forget(worker);
      void worker.terminate();
      if (this.isClosed) reject(stopped());
      // The document is not the cause if the thread never began the work.
      else if (!this.ready.has(worker)) reject(notStarted(thrown));
      else reject(new RockpoolError('document-too-costly', { problem }));
      this.next();
    };
    const onExit = (): void => {
      if (this.isClosed || !this.used.has(worker)) return fail('the thread that merges documents ended');
      release();
      this.forget(worker);
      this.waiting.unshift({ ...job, needsNewThread: true });
      this.next();
    };
    const release = (): void => {
      stopTimer();
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    limit(this.ready.has(worker) ? deadlineMs : START_DEADLINE_MS);
    worker.ref();
    worker.postMessage(work);
  }

  private forget(worker: Worker): void {
    this.workers.delete(worker);
    this.idle = this.idle.filter((other) => other !== worker);
  }
}

/** An error with a code does not count as a failure of the changeset (`isOfTheCommit`), so it is not rejected. */
function notStarted(cause: unknown): Error {
  const error = new Error('a thread that merges documents did not start', { cause });
  return Object.assign(error, { code: 'ERR_WORKER_INIT_FAILED' });
}

function stopped(): RockpoolError {
  return new RockpoolError('database-unavailable', { problem: 'the server is stopping' });
}
