import { expect, it } from 'vitest';
import { growDocument } from '../../testing/document-growth.ts';

it('a document that many overwrite again and again grows no further than three times what it is when compacted, which is not above three times its content', async () => {
  const { content, state, largest, compacted, kept } = await growDocument(1_500, 30);
  expect(compacted).toBeLessThan(3 * content);
  // The edit that leads beyond is in it when it is compacted.
  expect(largest).toBeLessThan(3 * compacted + 1024);
  expect(state).toBeLessThanOrEqual(largest);
  // The document that it took the place of is kept, and edits of as many bytes as the state has; more than those are
  // removed once in 32 edits.
  expect(kept).toBeLessThan(3 * largest + 32 * 256);
}, 120_000);
