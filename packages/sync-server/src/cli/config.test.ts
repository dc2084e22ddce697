import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSchema } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder, TEST_SECRET } from '../../testing/test-server.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { readServeConfig } from './config.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

it('reads each retention setting, and leaves the others at their defaults', () => {
  const schema = join(folder.path, 'schema.json');
  writeFileSync(schema, encodeSchema(TEST_SCHEMA));
  const read = (...flags: readonly string[]): unknown =>
    readServeConfig({
      flags: ['--data', folder.path, '--schema', schema, '--port', '0', ...flags],
      environment: { ROCKPOOL_SECRET: TEST_SECRET, ROCKPOOL_KEEP_CONFLICTS: '2h' },
    }).retention;
  expect(read()).toEqual({ conflictsMs: 7_200_000 });
  expect(read('--keep-deletes', '7d', '--max-conflicts', '0')).toEqual({
    tombstonesMs: 604_800_000,
    conflictsMs: 7_200_000,
    maxConflicts: 0,
  });
});
