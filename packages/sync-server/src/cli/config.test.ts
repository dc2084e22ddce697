import { mkdirSync, writeFileSync } from 'node:fs';
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

it('the configuration takes each retention setting, and leaves the others at their defaults', () => {
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

it('an empty variable of the environment counts as missing, as in a compose file without values', () => {
  const schema = join(folder, 'schema.json');
  writeFileSync(schema, encodeSchema(TEST_SCHEMA));
  const names = ['CONFIG', 'BACKUP_TO', 'HISTORY_ROLE', 'KEEP_DELETES', 'ORIGIN', 'THREADS', 'TRACING'];
  const empty = Object.fromEntries(names.map((name) => [`ROCKPOOL_${name}`, '']));
  const read = (environment: Record<string, string>): unknown =>
    readServeConfig({
      flags: ['--data', folder, '--schema', schema, '--port', '0'],
      environment: { ROCKPOOL_SECRET: TEST_SECRET, ...environment },
    });
  expect(read(empty)).toEqual(read({}));
});

it.each<[string, readonly string[], Record<string, string>, string]>([
  ['a secret file that is empty', ['--secret-file', 'EMPTY'], {}, 'the secret has 0 bytes'],
  ['a value of a setting without one', ['--tracing=false'], {}, '--tracing takes no value'],
  ['a secret that others can read in the list of processes', ['--secret', 'x'], {}, 'unknown setting --secret'],
  ['a setting of the backup without a backup', ['--unload-after', '30d'], {}, '--unload-after needs --backup-to'],
  ['a place of the backup without a backup', ['--backup-path-style'], {}, '--backup-path-style needs --backup-to'],
  ['more threads than memory', ['--threads', '99999999'], {}, '--threads takes a whole number from 1 to 1024'],
  ['a setting that is given twice', ['--threads', '1', '--threads', '8'], {}, '--threads is given 2 times'],
  [
    'a URL without http://',
    ['--instance-url', 'localhost:4400/sync'],
    {},
    '--instance-url takes a URL such as http://',
  ],
  ['a key set without http://', ['--key-set', 'localhost:80/keys'], {}, '--key-set: localhost:80/keys cannot be read'],
  ['an unknown role', ['--history-role', 'king'], {}, '--history-role takes owner, editor or viewer'],
  ['an unclear value in the environment', [], { ROCKPOOL_TRACING: 'yes' }, 'ROCKPOOL_TRACING takes 1 or 0'],
])('the configuration reports %s, instead of ignoring it', (_, flags, environment, problem) => {
  const [schema, empty] = [join(folder, 'schema.json'), join(folder, 'empty')];
  writeFileSync(schema, encodeSchema(TEST_SCHEMA));
  writeFileSync(empty, '');
  const always = ['--data', folder, '--schema', schema, '--port', '0', '--oidc-issuer', 'https://id.example.org'];
  expect(() =>
    readServeConfig({ flags: [...always, ...flags.map((flag) => (flag === 'EMPTY' ? empty : flag))], environment }),
  ).toThrow(problem);
});

describe('the previous secret', () => {
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
    ['weak', 'short', { ROCKPOOL_SECRET: TEST_SECRET }, 'it needs at least 32'],
    ['the same', TEST_SECRET, { ROCKPOOL_SECRET: TEST_SECRET }, 'it must differ from the secret'],
    [
      'the only one',
      TEST_SECRET,
      { ROCKPOOL_OIDC_ISSUER: 'https://id.example.org' },
      'set the secret that replaces it',
    ],
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
    it(`is not an action: ${name}`, async () => {
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

    it(`is not a setting: ${name}`, async () => {
      const file = join(folder, 'config.json');
      writeFileSync(file, `{"${name}": "x", "data": ${JSON.stringify(folder)}}`);
      const { stderr } = await output('databases', 'list', `--${name}`, '--config', file);
      expect(stderr).toContain(`--config: unknown setting ${name}`);
      // parseArgs itself drops this flag, so it is not reported.
      if (name !== '__proto__') expect(stderr).toContain(`unknown setting --${name}`);
    });
  }
});

it.each([
  ['doctor', ['doctor']],
  ['members', ['members', 'revoked']],
  ['token', ['token', '--database', 'household', '--ttl', '1h']],
])('the configuration file of the server also fits %s, which ignores what only the server uses', async (_, command) => {
  const config = join(folder, 'config.json');
  const data = join(folder, 'data');
  mkdirSync(join(data, 'databases'), { recursive: true });
  const settings = { data, port: 4400, origin: ['https://app.example.org'], 'secret-file': join(folder, 'secret') };
  writeFileSync(settings['secret-file'], TEST_SECRET);
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    writeFileSync(config, JSON.stringify(settings));
    await run([...command, '--config', config]);
    expect(said).not.toHaveBeenCalled();
    writeFileSync(config, JSON.stringify({ ...settings, prot: 4400 }));
    expect(await run([...command, '--config', config])).toBe(1);
    expect(said).toHaveBeenCalledWith('config-invalid:\n--config: unknown setting prot\n');
  } finally {
    said.mockRestore();
    printed.mockRestore();
  }
});

describe('the bus', () => {
  const read = (...flags: readonly string[]): unknown => {
    const schema = join(folder, 'schema.json');
    writeFileSync(schema, encodeSchema(TEST_SCHEMA));
    writeFileSync(join(folder, 'rockpool.creds'), 'credentials');
    return readServeConfig({
      flags: ['--data', folder, '--schema', schema, '--port', '0', ...flags],
      environment: { ROCKPOOL_SECRET: TEST_SECRET },
    }).nats;
  };
  const postgres = ['--postgres', 'postgresql://host/name'];

  it('is NATS if servers are given', () => {
    expect(read()).toBeUndefined();
    expect(read(...postgres, '--bus', 'nats://a', '--bus', 'tls://b:4333')).toEqual({
      servers: ['nats://a', 'tls://b:4333'],
    });
    expect(read(...postgres, '--bus', 'nats://a', '--bus-credentials-file', join(folder, 'rockpool.creds'))).toEqual({
      servers: ['nats://a'],
      credentials: 'credentials',
    });
  });

  it.each([
    [['--bus', 'nats://a'], '--bus needs --postgres or --shards'],
    [[...postgres, '--bus', 'http://a'], '--bus takes a URL such as nats://'],
    [[...postgres, '--bus-credentials-file', 'x'], '--bus-credentials-file needs --bus'],
    [[...postgres, '--bus', 'nats://a', '--bus-credentials-file', 'missing'], '--bus-credentials-file: missing'],
  ])('is refused if it is %j', (flags, problem) => {
    expect(() => read(...flags)).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        fields: { count: 1, problems: expect.stringContaining(problem) as string },
      }) as Error,
    );
  });
});

describe('the list of shards', () => {
  const A = { name: 'a', url: 'postgresql://ann:secret@a/rockpool' };
  const read = (content: string, ...flags: readonly string[]): unknown => {
    const [schema, shards] = [join(folder, 'schema.json'), join(folder, 'shards.json')];
    writeFileSync(schema, encodeSchema(TEST_SCHEMA));
    writeFileSync(shards, content);
    return readServeConfig({
      flags: ['--data', folder, '--schema', schema, '--port', '0', '--shards', shards, ...flags],
      environment: { ROCKPOOL_SECRET: TEST_SECRET },
    }).postgres;
  };

  it('is read from its file', () => {
    expect(read(JSON.stringify([A, { ...A, name: 'b', weight: 2 }]))).toEqual([A, { ...A, name: 'b', weight: 2 }]);
  });

  it.each([
    ['{}', [], '--shards: the file is not a JSON array'],
    ['[1]', [], '--shards: the file is not a JSON array'],
    ['[]', [], '--shards: the list is empty'],
    [JSON.stringify([{ ...A, wieght: 1 }]), [], '--shards: entry 1 has the unknown member wieght'],
    [JSON.stringify([{ ...A, url: 'http://ann:secret@a' }]), [], '--shards: a: the url must look like'],
    [JSON.stringify([A]), ['--postgres', 'postgresql://a/b'], 'use --postgres or --shards, not both'],
  ])('is refused: %s %j', (content, flags, problem) => {
    let problems = '';
    try {
      read(content, ...flags);
    } catch (error) {
      problems = (error as RockpoolError).fields['problems'] as string;
    }
    expect(problems).toContain(problem);
    expect(problems).not.toContain('secret@');
  });

  it('requires a shard for move', async () => {
    const shards = join(folder, 'shards.json');
    writeFileSync(shards, JSON.stringify([A]));
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      expect(await run(['move'])).toBe(1);
      expect(await run(['move', 'my budget', '--to', 'a', '--shards', shards])).toBe(1);
      expect(await run(['move', 'my-budget', '--to', 'c', '--shards', shards])).toBe(1);
      expect(said.mock.calls.map(([text]) => text)).toEqual([
        expect.stringContaining('--shards is missing\n--to is missing\nmove: DATABASE is missing'),
        expect.stringContaining('a database id must consist of 1 to 64'),
        expect.stringContaining('--to: the list has no shard c'),
      ]);
    } finally {
      said.mockRestore();
    }
  });
});
