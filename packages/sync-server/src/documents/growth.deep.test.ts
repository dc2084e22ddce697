import { expect, it } from 'vitest';
import { growDocument } from '../../testing/document-growth.ts';

it(
  'a compacted document stays within three times its content after 100,000 overwrites in 2,000 sessions',
  async () => {
    const { content, largest, compacted, kept } = await growDocument(100_000, 2_000);
    console.info(JSON.stringify({ content, largest, compacted, kept }));
    expect(compacted).toBeLessThan(3 * content);
    expect(largest).toBeLessThan(3 * compacted + 1024);
    expect(kept).toBeLessThan(3 * largest);
  },
  20 * 60_000,
);
