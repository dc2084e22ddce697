import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { KeptThread } from './kept-thread.ts';

const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads';
    parentPort.on('message', (task) => {
      if (task === 'wait') return;
      if (task === 'throw') throw new Error('the task failed');
      if (task === 'exit') process.exit(3);
      parentPort.postMessage([task, threadId]);
    });`)}`,
);

let thread: KeptThread<string, [task: string, threadId: number]>;
const workers: Worker[] = [];
const collect = (worker: Worker): void => void workers.push(worker);
beforeEach(() => {
  thread = new KeptThread(script);
  workers.length = 0;
  process.on('worker', collect);
});
afterEach(async () => {
  process.off('worker', collect);
  vi.useRealTimers();
  await thread.close();
});

it('a kept thread answers one task after another', async () => {
  const [first, id] = await thread.run('a');
  expect(first).toBe('a');
  expect(await thread.run('b')).toEqual(['b', id]);
});

it('a kept thread is replaced after a task that throws, or that ends it', async () => {
  const [, id] = await thread.run('a');
  await expect(thread.run('throw')).rejects.toThrow('the task failed');
  const [, next] = await thread.run('b');
  expect(next).not.toBe(id);
  await expect(thread.run('exit')).rejects.toThrow('exited with code 3');
  expect((await thread.run('c'))[0]).toBe('c');
  expect(workers).toHaveLength(3);
});

it('a kept thread ends 30 seconds after its last task', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const [, id] = await thread.run('a');
  vi.advanceTimersByTime(29_999);
  expect(await thread.run('b')).toEqual(['b', id]);
  vi.advanceTimersByTime(29_999);
  expect(await thread.run('c')).toEqual(['c', id]);
  const ended = once(workers[0] as Worker, 'exit');
  vi.advanceTimersByTime(30_000);
  await ended;
  expect((await thread.run('d'))[1]).not.toBe(id);
});

it('a kept thread ends when it is closed', async () => {
  await thread.run('a');
  const ended = once(workers[0] as Worker, 'exit');
  await thread.close();
  await expect(ended).resolves.toEqual([1]);
});

it('a kept thread finishes its task before it ends, but ends after 5 s in any case', async () => {
  const task = thread.run('a');
  await thread.finish(task);
  expect((await task)[0]).toBe('a');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const endless = thread.run('wait');
  const failure = endless.catch((error: unknown) => error);
  const finished = thread.finish(endless);
  vi.advanceTimersByTime(5_000);
  await finished;
  expect(await failure).toMatchObject({ message: expect.stringContaining('exited') as string });
});
