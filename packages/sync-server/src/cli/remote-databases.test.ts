import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { ADMIN_TOKEN } from '../../testing/admin-client.ts';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { run } from '../cli.ts';

const tested = serverUnderTest({ admin: { token: ADMIN_TOKEN } });

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
  writeFileSync(at('token'), `${ADMIN_TOKEN}\n`);
  writeFileSync(at('wrong'), 'x'.repeat(40));
});
const at = (name: string): string => join(folder, name);

async function command(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => ((output[stream] += String(text)), true)),
  );
  const code = await run(['databases', ...args]);
  for (const spy of spies) spy.mockRestore();
  return { code, ...output };
}

const remote = (...args: string[]): ReturnType<typeof command> =>
  command('--server', `http://${tested.server.host}/`, '--admin-token-file', at('token'), ...args);

it('remote commands wait for a server that copies a large database, without a limit', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = createServer((_, response) => {
    vi.advanceTimersByTime(60 * 60_000);
    // The client handles what its timers have done before it receives the response.
    setImmediate(() => response.writeHead(201).end('{"sizeBytes":8}'));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  writeFileSync(at('large.sqlite'), 'contents');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['import', DATABASE, at('large.sqlite'), '--server', url, '--admin-token-file', at('token')];
  expect(await command(...args)).toEqual({
    code: 0,
    stdout: `imported ${at('large.sqlite')} as ${DATABASE}\n`,
    stderr: '',
  });
});

it('remote commands operate databases of a running server, whose other databases stay in use', async () => {
  const { server } = tested;
  const ann = await server.open();
  await ann.commit([insert('accounts', 'a', { name: 'a' })]);
  const other = await server.open(undefined, { databaseId: 'other' });
  expect((await remote('list')).stdout).toMatch(
    new RegExp(`^${DATABASE}\tonline\t\\d+ bytes\t1 sessions\twatermark 1\nother\tonline\t`),
  );
  expect(JSON.parse((await remote('inspect', DATABASE)).stdout)).toMatchObject({ summary: { watermark: 1 } });
  expect(await remote('export', DATABASE, at('copy.sqlite'))).toMatchObject({
    code: 0,
    stdout: `exported ${DATABASE} to ${at('copy.sqlite')}\n`,
  });
  const copy = new DatabaseSync(at('copy.sqlite'), { readOnly: true });
  expect(copy.prepare('SELECT id FROM accounts').all()).toEqual([{ id: 'a' }]);
  copy.close();
  expect((await remote('export', DATABASE, at('copy.sqlite'))).stderr).toContain('already exists');
  // What a killed command has left.
  writeFileSync(at('again.sqlite.partial'), 'x');
  expect(await remote('export', DATABASE, at('again.sqlite'))).toMatchObject({ code: 0 });
  expect(readdirSync(folder).sort()).toEqual(
    ['again.sqlite', 'again.sqlite.partial', 'copy.sqlite', 'token', 'wrong'].sort(),
  );
  expect((await remote('import', DATABASE, at('copy.sqlite'))).stderr).toBe(
    'config-invalid:\na database with this id already exists\n',
  );
  for (const confirm of [[], ['--confirm', 'other']])
    expect((await remote('delete', DATABASE, ...confirm)).stderr).toContain('`confirm` must be the id or the identity');
  expect((await remote('drain', DATABASE)).stdout).toBe(
    `drained ${DATABASE}; its clients are kept out until it is opened\n`,
  );
  expect(await remote('open', DATABASE)).toMatchObject({ code: 0 });
  expect(await remote('close', DATABASE)).toMatchObject({ code: 0 });
  expect((await remote('replace', DATABASE, at('copy.sqlite'), '--confirm', DATABASE)).stdout).toContain(
    `; the old file is db-${DATABASE}.sqlite.replaced-1`,
  );
  expect(await remote('delete', DATABASE, '--confirm', DATABASE)).toMatchObject({ code: 0 });
  expect(await remote('import', DATABASE, at('copy.sqlite'))).toMatchObject({ code: 0 });
  expect((await remote('restore', 'march', DATABASE, '--at', '2026-03-01')).stderr).toContain('has no history');
  expect((await remote('restore', 'march', DATABASE)).stderr).toContain('databases restore needs --at');
  expect((await remote('restore', 'march', '../x', '--at', '2026-03-01')).stderr).toContain('FROM must be the id');
  expect((await remote('export', DATABASE, at('x'), '--at', '2026-03-01')).stderr).toContain('use --at only with');
  expect(await remote('create', 'New')).toMatchObject({ code: 0 });
  expect(await other.commit([insert('accounts', 'b', { name: 'b' })])).toMatchObject({ kind: 'admitted' });
  expect((await remote('inspect', 'unknown')).stderr).toContain('The database does not exist yet.');
});

it('remote commands require the right token, a URL and valid arguments', async () => {
  const url = `http://${tested.server.host}`;
  expect((await command('list', '--server', url, '--admin-token-file', at('wrong'))).stderr).toContain('token');
  expect((await command('list', '--server', url)).stderr).toContain('--server needs --admin-token-file');
  expect((await command('list', '--server', 'here', '--admin-token-file', at('token'))).stderr).toContain(
    '--server takes a URL',
  );
  expect((await remote('accept', DATABASE)).stderr).toContain('databases accept needs --data');
  expect((await remote('delete', '../etc', '--confirm', '../etc')).stderr).toContain(
    'a database id must consist of 1 to 64',
  );
  for (const file of [at('none'), folder])
    expect((await remote('import', 'New', file)).stderr).toContain(`${file} cannot be read`);
  expect((await command('close', DATABASE, '--data', folder)).stderr).toContain('databases close needs --server');
  expect((await command('delete', DATABASE, '--data', folder, '--confirm', DATABASE)).stderr).toContain(
    '--confirm needs --server',
  );
  const gone = await command('list', '--server', 'http://127.0.0.1:1', '--admin-token-file', at('token'));
  expect(gone.code).toBe(1);
  expect(gone.stderr).toContain('The server cannot be reached.');
});

it('remote commands say that a program which answers everything with its page has no admin API', async () => {
  const server = createServer((_, response) => response.end('<!doctype html>'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const args of [['list'], ['close', DATABASE], ['delete', DATABASE, '--confirm', DATABASE]])
    expect(await command(...args, '--server', url, '--admin-token-file', at('token'))).toEqual({
      code: 1,
      stdout: '',
      stderr: `config-invalid:\n${url} has no admin API\n`,
    });
});

it.each(['', '{}', 'null'])('a list from a program that answers everything with %j is an error', async (body) => {
  const server = createServer((_, response) => response.end(body));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await command('list', '--server', url, '--admin-token-file', at('token'))).toEqual({
    code: 1,
    stdout: '',
    stderr: `config-invalid:\n${url} has no admin API\n`,
  });
});

it('remote commands discard an export that arrived damaged or incomplete', async () => {
  const server = createServer((_, response) => {
    response.setHeader('rockpool-sha256', '0'.repeat(64));
    response.end('not what was hashed');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['export', DATABASE, at('copy.sqlite'), '--server', url, '--admin-token-file', at('token')];
  expect((await command(...args)).stderr).toContain('the download is damaged');
  expect(readdirSync(folder).sort()).toEqual(['token', 'wrong']);
  expect(existsSync(at('copy.sqlite'))).toBe(false);
  server.close();
});

it('remote commands never print the token', async () => {
  const outputs = [await remote('list'), await remote('inspect', 'unknown'), await remote('nothing')];
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(ADMIN_TOKEN);
});
