import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../children.mjs';
import { generatedFiles } from './pages.mjs';

it('generated pages and charts are up to date; `npm run docs:generate` updates them', () => {
  const outdated = [...generatedFiles()].filter(
    ([path, content]) => readFileSync(join(root, path), 'utf8') !== content,
  );
  expect(outdated.map(([path]) => path)).toEqual([]);
});
