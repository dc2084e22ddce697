import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { editsOf, withEdit } from './seeded-bug.ts';
import { SEEDED_BUGS } from './seeded-bugs.ts';

const ROOT = new URL('../../', import.meta.url);

describe('every seeded bug', () => {
  it.each(SEEDED_BUGS)('$name: finds its code exactly once', (bug) => {
    for (const edit of editsOf(bug)) {
      const source = readFileSync(new URL(edit.file, ROOT), 'utf8');
      expect(withEdit(source, edit)).not.toBe(source);
    }
  });
});
