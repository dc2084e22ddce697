import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { insert } from '../testing/changeset.ts';
import { runCommand, ServerProcess, serverFlags } from '../testing/server-process.ts';
import { TestConnection } from '../testing/test-client.ts';
import { DATABASE, TEST_SECRET } from '../testing/test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describe('rockpool-server', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('serves until %s and exits cleanly', async (signal) => {
    const server = await ServerProcess.start(folder);
    const health = await fetch(server.url.replace('ws:', 'http:').replace('/sync', '/health'));
    expect(await health.json()).toEqual({ status: 'ok' });
    const connection = await TestConnection.connect(server.url);
    await connection.open(await server.token(), DATABASE);
    await connection.commit([insert('accounts', 'x', { name: 'a private name' })]);
    const { code, stderr } = await server.signal(signal);
    expect(code).toBe(0);
    expect(await connection.closes()).toMatchObject({ code: 1001 });
    // Every line is one JSON object, without values or tokens.
    const events = stderr
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events).toEqual(['session-opened']);
    expect(stderr).not.toContain('private');
  });

  it.each([
    ['SIGINT', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
  ] as const)('stops cleanly at %s, and ends at once at %s while it stops', async (first, second) => {
    const server = await ServerProcess.start(folder);
    // A client for which the server waits: it does not answer the closing handshake.
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    const headers = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = `Sec-WebSocket-Key: ${'x'.repeat(22)}==`;
    socket.write(['GET /sync HTTP/1.1', `Host: ${hostname}:${port}`, ...headers, key, '', ''].join('\r\n'));
    await once(socket, 'data');
    const ended = server.signal(first);
    await once(socket, 'data'); // the server closes the connection
    void server.signal(second);
    expect(await ended).toMatchObject({ code: null });
  });

  it('ends at SIGTERM while it starts', async () => {
    // As PostgreSQL behind a network that loses everything.
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const environment = { ROCKPOOL_POSTGRES: `postgresql://ann@127.0.0.1:${port}/rockpool` };
    const ended = await runCommand(serverFlags(folder), environment, once(silent, 'connection'));
    expect(ended).toMatchObject({ code: 0, stdout: '' });
  });

  // A file that fails every write, as a log on a full disk does.
  it.skipIf(!existsSync('/dev/full'))('serves on while its log cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const server = await ServerProcess.start(folder, serverFlags(folder), {}, full);
    const connection = await TestConnection.connect(server.url);
    await connection.open(await server.token(), DATABASE); // logs `session-opened`
    expect(await connection.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
    expect(await server.signal('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('refuses a data directory that another server uses', async () => {
    const server = await ServerProcess.start(folder);
    const second = await runCommand(serverFlags(folder));
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain('another server uses this data directory');
    // The lock ends with its process, however the process ends.
    await server.signal('SIGKILL');
    const third = await ServerProcess.start(folder);
    expect(await third.signal('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('reports all problems of its configuration at once', async () => {
    const weak = join(folder, 'weak');
    writeFileSync(weak, 'short');
    const schema = join(folder, 'schema.json');
    writeFileSync(schema, '{"tables": []}');
    const { code, stderr } = await runCommand([
      '--schema',
      schema,
      '--port',
      '99999',
      '--secret-file',
      weak,
      '--origin',
      'example.org',
      '--keep-deletes',
      'long',
      '--max-conflicts',
      '-1',
      '--verbose',
      'extra',
    ]);
    expect(code).toBe(1);
    expect(stderr.split('\n').filter((line) => line !== '')).toEqual([
      'config-invalid:',
      'unknown setting --verbose',
      'unknown argument extra',
      '--data is missing',
      '--schema: the file is not a Rockpool schema file',
      '--port takes a number from 0 to 65535',
      '--secret-file: the secret has 5 bytes; it needs at least 32',
      'example.org is not an origin, such as https://app.example.org or http://localhost:5173',
      '--keep-deletes takes a number and s, m, h or d, such as 12h',
      '--max-conflicts takes a whole number',
    ]);
  });

  it('refuses a long secret that repeats a few characters', async () => {
    const weak = join(folder, 'weak');
    writeFileSync(weak, 'a'.repeat(64));
    const { code, stderr } = await runCommand([...serverFlags(folder).slice(0, -1), weak]);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('repeats a few characters') as string,
    });
  });

  it.each([['changeme-changeme-0123456789-abcdef'], ['replace_me: at least 32 random bytes']])(
    'refuses a secret from a template: %s',
    async (text) => {
      const secret = join(folder, 'weak');
      writeFileSync(secret, text);
      const { stderr } = await runCommand([...serverFlags(folder).slice(0, -1), secret]);
      expect(stderr).toContain('reads like a placeholder');
    },
  );

  it('reads settings from flags, then from the environment, then from a file, and reports the problems of each', async () => {
    const [, data = '', , schema = '', , , , secret = ''] = serverFlags(folder);
    const config = join(folder, 'config.json');
    writeFileSync(config, JSON.stringify({ data: '/nowhere', schema, port: 0, origin: ['https://app.example.org'] }));
    const server = await ServerProcess.start(folder, ['--config', config], {
      ROCKPOOL_DATA: data,
      ROCKPOOL_SECRET: TEST_SECRET,
    });
    await expect(
      TestConnection.connect(server.url, undefined, { origin: 'https://app.example.org' }),
    ).resolves.toBeDefined();
    expect(await server.signal('SIGTERM')).toMatchObject({ code: 0 });
    writeFileSync(config, JSON.stringify({ prot: 0, origin: 'https://app.example.org' }));
    const { stderr } = await runCommand(['serve', '--config', config, '--secret-file', secret], {
      ROCKPOOL_PORT: 'http',
    });
    expect(stderr.trim().split('\n')).toEqual([
      'config-invalid:',
      '--config: unknown setting prot',
      '--config: origin has the wrong type (expected list)',
      '--data is missing',
      '--schema is missing',
      '--port takes a number from 0 to 65535',
    ]);
  });

  it('prints its usage', async () => {
    expect(await runCommand([])).toMatchObject({ code: 1, stdout: expect.stringContaining('--secret-file') as string });
    expect(await runCommand(['--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('rockpool-server token') as string,
    });
  });
});

describe('rockpool-server token', () => {
  it('prints a token that opens one database', async () => {
    const server = await ServerProcess.start(folder);
    const secret = join(folder, 'secret');
    const { code, stdout } = await runCommand([
      'token',
      '--database',
      'shared-budget',
      '--secret-file',
      secret,
      '--ttl',
      '1h',
      '--read-only',
      '--principal',
      'ben',
    ]);
    expect(code).toBe(0);
    const connection = await TestConnection.connect(server.url);
    const { welcome } = await connection.open(stdout.trim(), 'shared-budget');
    expect(welcome.canWrite).toBe(false);
    await connection.close();
    await server.signal('SIGTERM');
  });

  it('reports all problems at once', async () => {
    const roles = ['--role', 'owner', '--read-only'];
    const { code, stderr } = await runCommand(['token', '--database', '../x', '--ttl', 'soon', ...roles]);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      'config-invalid:',
      '--database takes up to 64 letters, digits, _ and -',
      '--secret-file is missing',
      '--ttl takes a number and s, m, h or d, such as 12h',
      'use --role or --read-only, not both',
    ]);
  });
});
