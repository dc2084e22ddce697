import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { editsOf } from './seeded-bug.ts';
import { SEEDED_BUGS } from './seeded-bugs.ts';

const ROOT = new URL('../../', import.meta.url);

describe('every seeded bug', () => {
  it.each(SEEDED_BUGS)('$name: finds its line in the code as it is', (bug) => {
    for (const { file, find } of editsOf(bug))
      expect(readFileSync(new URL(file, ROOT), 'utf8').split(find), file).toHaveLength(2);
  });
});
