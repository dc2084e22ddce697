import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN } from '#sync-server/testing/admin-client.ts';
import { serverFlags } from '#sync-server/testing/server-process.ts';
import { TEST_SCHEMA } from '#sync-server/testing/test-schema.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { pnpm } from '../../scripts/setup.mjs';

const packages = new URL('../../packages/', import.meta.url).pathname;

/** Builds and packs a package, and unpacks it into `node_modules` of the app, with links to what it depends on. */
function install(name: string, app: string): string {
  const folder = join(packages, name);
  const inFolder = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const;
  const tarballs = join(app, 'tarballs', name);
  const installed = join(app, 'node_modules/@rockpool', name);
  for (const made of [tarballs, installed]) mkdirSync(made, { recursive: true });
  execFileSync('npm', ['run', 'build'], inFolder);
  const [program, args] = pnpm(['pack', '--pack-destination', tarballs]);
  execFileSync(program, args, inFolder);
  const [tarball = ''] = readdirSync(tarballs);
  execFileSync('tar', ['-xzf', join(tarballs, tarball), '-C', installed, '--strip-components=1']);
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  ) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
    if (dependency.startsWith('@rockpool/')) continue;
    const link = join(app, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    try {
      symlinkSync(join(folder, 'node_modules', dependency), link);
    } catch (error) {
      // Another package has the same dependency.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return installed;
}

it('a packed server runs the jobs of operators in processes of their own', async () => {
  const app = temporaryFolder();
  install('shared', app);
  const installed = install('sync-server', app);
  const token = join(app, 'operator-token');
  writeFileSync(token, ADMIN_TOKEN);
  const server = spawn(
    process.execPath,
    [join(installed, 'bin/rockpool-server.mjs'), ...serverFlags(app), '--admin-token-file', token],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  onTestFinished(() => void server.kill('SIGKILL'));
  let log = '';
  server.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    server.stdout.on('data', (chunk: Buffer) => {
      const [, found] = /listening on (http:\/\/\S+)/.exec(chunk.toString()) ?? [];
      if (found !== undefined) resolve(found);
    });
    server.once('close', () => reject(new Error(`the server ended before it was ready: ${log}`)));
  });
  const ask = async (method: string, path: string): Promise<readonly [status: number, body: string]> => {
    const response = await fetch(`${url}/admin/api${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    return [response.status, await response.text()];
  };
  expect([await ask('PUT', '/databases/a'), log.includes('failed')]).toEqual([[201, ''], false]);
  const [status, body] = await ask('GET', '/databases/a');
  expect([status, JSON.parse(body)]).toMatchObject([
    200,
    { summary: { schemaHash: TEST_SCHEMA.hash, rowsByTable: { accounts: 0 } } },
  ]);
});
