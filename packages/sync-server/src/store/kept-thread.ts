import { Worker } from 'node:worker_threads';

/**
 * How long a thread without a task is kept. Members who look at the past ask again within seconds, and new devices
 * arrive in groups.
 */
const KEPT_MS = 30_000;

/** A stopping server has half a minute in all, and a task on a large database may take minutes. */
const LAST_TASK_MS = 5_000;

/**
 * A thread for one task after another, so that the server's thread keeps serving. It starts with the first task and is
 * kept for later ones, because loading its script takes longer than most tasks; 30 seconds after the last one it ends.
 *
 * The script listens for tasks on its `parentPort` and posts one answer for each.
 */
export class KeptThread<Task, Answer> {
  private readonly script: URL;
  private worker: Worker | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(script: URL) {
    this.script = script;
  }

  /**
   * Call it only after the previous task has its answer. Rejects with what the script throws; the next task gets
   * another thread.
   */
  async run(task: Task): Promise<Answer> {
    clearTimeout(this.timer);
    const worker = this.worker ?? this.start();
    worker.ref();
    try {
      return await answerOf<Task, Answer>(worker, task);
    } finally {
      // Does not keep a process alive that has nothing else to do.
      worker.unref();
      this.timer = setTimeout(() => void this.close(), KEPT_MS).unref();
    }
  }

  /** Ends the thread once `tasks` settles, or after 5 s, so that the task that runs rejects. */
  async finish(tasks: Promise<unknown>): Promise<void> {
    const late = setTimeout(() => void this.close(), LAST_TASK_MS);
    await tasks.catch(() => undefined);
    clearTimeout(late);
    await this.close();
  }

  /** Ends the thread. A later task starts another one. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const { worker } = this;
    this.worker = null;
    await worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(this.script);
    this.worker = worker;
    const forget = (): void => {
      if (this.worker === worker) this.worker = null;
    };
    // A thread with an error exits a moment later, and takes no more tasks.
    worker.on('error', forget).on('exit', forget);
    return worker;
  }
}

function answerOf<Task, Answer>(worker: Worker, task: Task): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const onExit = (code: number): void => settle(() => reject(new Error(`a thread exited with code ${code}`)));
    const onAnswer = (answer: Answer): void => settle(() => resolve(answer));
    const onError = (error: unknown): void => settle(() => reject(error as Error));
    const settle = (settled: () => void): void => {
      worker.off('message', onAnswer).off('error', onError).off('exit', onExit);
      settled();
    };
    worker.on('message', onAnswer).on('error', onError).on('exit', onExit);
    worker.postMessage(task);
  });
}
