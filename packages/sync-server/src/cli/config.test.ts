import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSchema, type RockpoolError } from '@rockpool/shared';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../cli.ts';
import { TEST_SECRET } from '../../testing/test-server.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { readServeConfig } from './config.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

it('reads each retention setting, and leaves the others at their defaults', () => {
  const schema = join(folder, 'schema.json');
  writeFileSync(schema, encodeSchema(TEST_SCHEMA));
  const read = (...flags: readonly string[]): unknown =>
    readServeConfig({
      flags: ['--data', folder, '--schema', schema, '--port', '0', ...flags],
      environment: { ROCKPOOL_SECRET: TEST_SECRET, ROCKPOOL_KEEP_CONFLICTS: '2h' },
    }).retention;
  expect(read()).toEqual({ conflictsMs: 7_200_000 });
  expect(read('--keep-deletes', '7d', '--max-conflicts', '0')).toEqual({
    tombstonesMs: 604_800_000,
    conflictsMs: 7_200_000,
    maxConflicts: 0,
  });
});

describe('the secret before this one', () => {
  const read = (previous: string, environment: Record<string, string>): unknown => {
    const schema = join(folder, 'schema.json');
    const file = join(folder, 'previous');
    writeFileSync(schema, encodeSchema(TEST_SCHEMA));
    writeFileSync(file, previous);
    const flags = ['--data', folder, '--schema', schema, '--port', '0', '--previous-secret-file', file];
    return readServeConfig({ flags, environment }).previousSecret;
  };

  it('is read from its file, without the line break', () => {
    const previous = 'the secret until now, of more than 32 bytes';
    expect(read(`${previous}\n`, { ROCKPOOL_SECRET: TEST_SECRET })).toEqual(Buffer.from(previous));
  });

  it.each([
    ['weak', 'short', { ROCKPOOL_SECRET: TEST_SECRET }, 'at least 32 are needed'],
    ['the same', TEST_SECRET, { ROCKPOOL_SECRET: TEST_SECRET }, 'it is the same as the secret'],
    ['the only one', TEST_SECRET, { ROCKPOOL_OIDC_ISSUER: 'https://id.example.org' }, 'no secret that replaces it'],
  ])('is refused if it is %s', (_, previous, environment, problem) => {
    let problems: unknown;
    try {
      read(previous, environment);
    } catch (error) {
      problems = (error as RockpoolError).fields['problems'];
    }
    expect(problems).toContain(problem);
    expect(problems).toContain('--previous-secret-file: ');
  });
});

describe('a name that every object inherits', () => {
  async function output(...args: readonly string[]): Promise<{ code: number; stderr: string }> {
    let stderr = '';
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
      stderr += String(chunk);
      return true;
    });
    try {
      return { code: await run(args), stderr };
    } finally {
      spy.mockRestore();
    }
  }

  for (const name of ['toString', 'constructor', 'hasOwnProperty', '__proto__']) {
    it(`is no action: ${name}`, async () => {
      expect(await output('databases', name, '--data', folder)).toEqual({
        code: 1,
        stderr: expect.stringContaining('databases takes list, inspect'),
      });
      expect(await output('members', name, '--data', folder)).toEqual({
        code: 1,
        stderr: expect.stringContaining('members takes list, set'),
      });
      expect((await output(name)).code).toBe(1);
    });

    it(`is no setting: ${name}`, async () => {
      const file = join(folder, 'config.json');
      writeFileSync(file, `{"${name}": "x", "data": ${JSON.stringify(folder)}}`);
      const { stderr } = await output('databases', 'list', `--${name}`, '--config', file);
      expect(stderr).toContain(`--config: unknown setting ${name}`);
      // parseArgs itself drops this flag.
      if (name !== '__proto__') expect(stderr).toContain(`unknown setting --${name}`);
    });
  }
});
