import { expect, it } from 'vitest';
import { replay } from './replay.ts';
import { typist } from './typist.ts';

// The document's state grows beyond what the server processes on its own thread, and beyond four times the compaction
// size.
it('a backlog of edits costs a reader at most the size of the edits or the document, and its author a small multiple of the document', async () => {
  const { saves, upBytes, readerDownBytes, writerDownBytes, stateBytes, writerContentBytes } = await replay(
    typist(1, 8_000),
    { every: 40, when: 'offline' },
  );
  expect(saves).toBe(200);
  expect(stateBytes).toBeGreaterThan(50 * 1024);
  expect(readerDownBytes).toBeLessThan(1.5 * upBytes);
  expect(writerDownBytes).toBeLessThan(0.1 * upBytes);
  expect(writerContentBytes).toBeLessThan(10 * stateBytes);
});

it('edits that are read one by one cost a reader their size, and occasionally the compacted document', async () => {
  const { upBytes, readerDownBytes, stateBytes, writerContentBytes, readerContentBytes } = await replay(
    typist(2, 6_000),
    { every: 40, when: 'online' },
  );
  expect(readerDownBytes).toBeLessThan(1.5 * upBytes);
  // The document was compacted meanwhile.
  expect(stateBytes).toBeLessThan(40 * 1024);
  for (const contentBytes of [writerContentBytes, readerContentBytes])
    expect(contentBytes).toBeLessThan(10 * stateBytes);
});
