import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apiReports } from './api-report.mjs';
import { root } from './children.mjs';

it.each([...apiReports()])('%s is up to date; `npm run api` updates it', (path, content) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(content);
});

it('the API report leaves out doc comments', () => {
  for (const content of apiReports().values()) expect(content).not.toContain('/**');
});
