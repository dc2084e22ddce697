import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../children.mjs';
import { isolatedFiles, needsOwnModules } from './isolated-files.mjs';
import { sourceFiles, suiteOf } from './test-files.mjs';

describe('a Node test file', () => {
  it.each([
    "vi.mock('node:fs', () => ({}));",
    "import './rows.test.ts';",
    "import { rows } from '../rows.test.ts';",
    "vi.spyOn(globalThis, 'fetch');",
    "vi.stubGlobal('indexedDB', {});",
  ])('has modules of its own if it contains %s', (line) => {
    expect(needsOwnModules(`import { it } from 'vitest';\n${line}\n`)).toBe(true);
  });

  it('shares modules with other files if it only imports', () => {
    expect(needsOwnModules("import { it } from 'vitest';\nimport { rows } from './rows.ts';\n")).toBe(false);
  });
});

it('the search for isolated files finds tests that replace a module', () => {
  expect(isolatedFiles()).toContain('packages/client/src/open-client.test.ts');
});

it('no helper registers hooks or tests when it is imported, because a module runs once in a process', () => {
  const registers = /^(afterAll|afterEach|beforeAll|beforeEach|describe|it|test)\b/m;
  const helpers = sourceFiles().filter(
    (file) => /(?<!\.spec)\.(ts|tsx|mjs)$/.test(file) && suiteOf(file) === undefined,
  );
  expect(helpers.length).toBeGreaterThan(500);
  expect(helpers.filter((file) => registers.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
