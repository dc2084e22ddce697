import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeSchema } from '@rockpool/shared';
import { afterAll, expect, it } from 'vitest';
import { issueToken } from '../auth/jwt.ts';
import { insert } from '../../testing/changeset.ts';
import { readDockerfile } from '../../testing/dockerfile.ts';
import { TestConnection } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DATABASE, TEST_SECRET } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = temporaryFolder();
let child: ChildProcess | null = null;
afterAll(() => {
  child?.kill('SIGKILL');
});

/** The files that `COPY . .` would copy: those in the repository, without built or installed files. */
function copyRepository(to: string): void {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace('**/', ''));
  for (const name of listed.split('\n'))
    if (name !== '' && !name.split('/').some((part) => ignored.includes(part)))
      cpSync(join(ROOT, name), join(to, name));
}

it('the steps of the Dockerfile build a server that runs on its own and stops on SIGTERM', async () => {
  const { builds, environment, command } = readDockerfile();
  const build = join(folder, 'build');
  const image = join(folder, 'image');
  copyRepository(build);
  // The Node version of the image must come first in PATH.
  const path = `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`;
  for (const shell of builds)
    execFileSync('sh', ['-c', shell.replaceAll(' /server', ` ${image}/server`)], {
      cwd: build,
      env: { ...process.env, PATH: path, NODE_OPTIONS: '', CI: 'true' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });

  mkdirSync(join(image, 'data'));
  const schema = join(image, 'schema.json');
  const secret = join(image, 'secret');
  writeFileSync(schema, encodeSchema(TEST_SCHEMA));
  writeFileSync(secret, TEST_SECRET);
  const [, program = '', ...args] = command;
  const started = spawn(process.execPath, [join(image, program), ...args], {
    cwd: image,
    env: {
      ...environment,
      ROCKPOOL_DATA: join(image, 'data'),
      ROCKPOOL_SCHEMA: schema,
      ROCKPOOL_SECRET_FILE: secret,
      ROCKPOOL_HOST: '127.0.0.1',
      ROCKPOOL_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  const host = await new Promise<string>((resolve, reject) => {
    let said = '';
    started.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    started.stdout.on('data', (chunk: Buffer) => {
      const [, found] = /listening on http:\/\/(\S+)/.exec(chunk.toString()) ?? [];
      if (found !== undefined) resolve(found);
    });
    started.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  expect(await (await fetch(`http://${host}/health`)).json()).toEqual({ status: 'ok' });
  const token = await issueToken(
    new TextEncoder().encode(TEST_SECRET),
    { principal: 'ann', databases: [DATABASE], ttlMs: 600_000 },
    Date.now(),
  );
  const connection = await TestConnection.connect(`ws://${host}/sync`);
  await connection.open(token, DATABASE);
  // Enough rows for a snapshot, which is built in a worker thread: one more file that the image must contain.
  await connection.commit(
    Array.from({ length: 10_000 }, (_, i) =>
      insert('entries', `e${i}`, { amount: 1n, note: `a note that makes the row longer ${i}` }),
    ),
  );
  const snapshot = await fetch(`http://${host}/databases/${DATABASE}/snapshot?schema=${TEST_SCHEMA.hash}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(snapshot.status).toBe(200);
  await snapshot.arrayBuffer();
  const ended = new Promise((resolve) => void started.once('exit', resolve));
  started.kill('SIGTERM');
  expect(await ended).toBe(0);
});
