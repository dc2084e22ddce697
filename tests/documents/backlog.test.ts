import { expect, it } from 'vitest';
import { replay } from './replay.ts';
import { typist } from './typist.ts';

// Its state grows beyond what the thread of the server works on by itself, and beyond four times the size at which it
// is compacted.
it('a backlog of edits of one document costs a reader no more than the edits or the document, and its author some times the document', async () => {
  const { saves, upBytes, readerDownBytes, writerDownBytes, stateBytes, writerFileBytes, emptyFileBytes } =
    await replay(typist(1, 8_000), { every: 20, when: 'offline' });
  expect(saves).toBe(400);
  expect(stateBytes).toBeGreaterThan(50 * 1024);
  expect(readerDownBytes).toBeLessThan(1.5 * upBytes);
  expect(writerDownBytes).toBeLessThan(0.1 * upBytes);
  expect(writerFileBytes - emptyFileBytes).toBeLessThan(10 * stateBytes);
}, 120_000);

it('edits that are read one by one cost a reader what they weigh, and now and then the compacted document', async () => {
  const { upBytes, readerDownBytes, stateBytes } = await replay(typist(2, 4_000), { every: 20, when: 'online' });
  expect(readerDownBytes).toBeLessThan(1.5 * upBytes);
  // It was compacted on the way.
  expect(stateBytes).toBeLessThan(40 * 1024);
}, 120_000);
