import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeSchema } from '#shared/index.ts';
import { expect, it } from 'vitest';
import { temporaryFolder } from '#kit/temporary-folder.ts';

it('the build step of the quick start writes the schema file of the server', () => {
  const cwd = temporaryFolder();
  const script = new URL('../../examples/quick-start/write-schema.ts', import.meta.url).pathname;
  execFileSync(process.execPath, [script], { cwd });
  const { tables } = decodeSchema(readFileSync(join(cwd, 'schema.json'), 'utf8'));
  expect(tables.map(({ name }) => name)).toEqual(['todo']);
});
