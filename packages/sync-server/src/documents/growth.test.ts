import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { growDocument } from '../../testing/document-growth.ts';

it('a document that is overwritten repeatedly grows to at most three times its compacted size, which is at most three times its content', async () => {
  const { content, state, largest, compacted, kept } = await growDocument(atLevel({ test: 500, verify: 1_500 }), 30);
  expect(compacted).toBeLessThan(3 * content);
  // The edit that exceeds the limit is part of the compacted state.
  expect(largest).toBeLessThan(3 * compacted + 1024);
  expect(state).toBeLessThanOrEqual(largest);
  // The server keeps the replaced document, and edits with as many bytes as the state. It removes further edits once
  // per 32 edits.
  expect(kept).toBeLessThan(3 * largest + 32 * 256);
});
