import { afterAll, expect, it } from 'vitest';
import readme from '../../packages/vfs-opfs/README.md?raw';

const workers: Worker[] = [];

/** The first message of a new worker: the first result of its search. */
function searchInNewWorker(): Promise<unknown> {
  const worker = new Worker(new URL('./notes.worker.ts', import.meta.url), { type: 'module' });
  workers.push(worker);
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }) => resolve(data), { once: true });
    worker.addEventListener('error', reject, { once: true });
  });
}

afterAll(() => {
  for (const worker of workers) worker.terminate();
});

it('the README of the storage shows notes.worker.ts, byte for byte and in at most 15 lines', async () => {
  const { default: source } = await import('./notes.worker.ts?raw');
  expect(readme).toContain(`\`\`\`ts\n${source}\`\`\`\n`);
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
});

it('the example reads its rows after its worker ended without closing', async () => {
  for (const round of [1, 2, 3]) {
    expect(await searchInNewWorker()).toEqual([round, 'coffee at nine']);
    workers.at(-1)!.terminate();
  }
});
