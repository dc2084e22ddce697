import { expect, it } from 'vitest';
import { growDocument } from '../../testing/document-growth.ts';

it('a document that is overwritten again and again grows to three times its compacted size at most, and that is within three times its content', async () => {
  const { content, state, largest, compacted, kept } = await growDocument(1_500, 30);
  expect(compacted).toBeLessThan(3 * content);
  // The edit that crosses the limit is part of the compacted state.
  expect(largest).toBeLessThan(3 * compacted + 1024);
  expect(state).toBeLessThanOrEqual(largest);
  // The document that it took the place of is kept, and edits of as many bytes as the state has; more than those are
  // removed once in 32 edits.
  expect(kept).toBeLessThan(3 * largest + 32 * 256);
});
