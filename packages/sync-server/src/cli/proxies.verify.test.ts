import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { issueToken } from '../auth/jwt.ts';
import { insert } from '../../testing/changeset.ts';
import { DEPLOY_FOLDER } from '../../testing/dockerfile.ts';
import { isMissing } from '../../testing/installed-tool.ts';
import { ServerProcess, serverFlags } from '../../testing/server-process.ts';
import { TestConnection } from '../../testing/test-client.ts';
import { DATABASE, TEST_SECRET } from '../../testing/test-server.ts';
import { freePort } from '../../../../tests/kit/free-port.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

/**
 * For each proxy, a function that writes its configuration from the files of the package: the proxy listens on `port`
 * and forwards to the server on `upstreamPort`. Returns the command that starts the proxy.
 */
const PROXIES: Readonly<
  Record<string, (folder: string, port: number, upstreamPort: number) => Promise<readonly string[]>>
> = {
  nginx: async (folder, port, upstreamPort) => {
    const names: Readonly<Record<string, string>> = {
      ROCKPOOL_SITE: 'localhost',
      ROCKPOOL_UPSTREAM: '127.0.0.1',
      PORT: String(upstreamPort),
      CERTIFICATES: folder,
      NGINX_LOCAL_RESOLVERS: '127.0.0.1',
    };
    const configuration = readFileSync(join(DEPLOY_FOLDER, 'nginx.conf.template'), 'utf8')
      .replace(/\$\{(\w+)\}/g, (_, name: string) => names[name] ?? `no ${name}`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`);
    const path = join(folder, 'nginx.conf');
    writeFileSync(path, configuration);
    const [key, certificate] = [join(folder, 'certificate-key.pem'), join(folder, 'certificate.pem')];
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost'],
      ...['-keyout', key, '-out', certificate],
    ]);
    expect(made.status).toBe(0);
    const globals = `pid ${join(folder, 'pid')}; daemon off; error_log stderr;`;
    const command = ['nginx', '-e', 'stderr', '-p', folder, '-c', path, '-g', globals];
    expect(spawnSync('nginx', [...command.slice(1), '-t', '-q'], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    return command;
  },
  caddy: async (folder, port) => {
    const path = join(folder, 'Caddyfile');
    const globals = `{\n\tadmin off\n\tskip_install_trust\n\thttp_port ${await freePort()}\n\thttps_port ${port}\n}\n`;
    writeFileSync(path, globals + readFileSync(join(DEPLOY_FOLDER, 'Caddyfile'), 'utf8'));
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', path];
  },
};

it.skipIf(isMissing(['openssl', 'version'])).for([
  ['nginx', isMissing(['nginx', '-v'])],
  ['caddy', isMissing(['caddy', 'version'])],
] as const)(
  '%s carries sessions over TLS, and exposes neither metrics nor the admin page',
  async ([name, isAway], { skip }) => {
    if (isAway) skip();
    const folder = temporaryFolder();
    const server = await ServerProcess.start(folder, [...serverFlags(folder)]);
    const upstreamPort = Number(new URL(server.url).port);
    const port = await freePort();
    const [program = '', ...args] = (await PROXIES[name]?.(folder, port, upstreamPort)) ?? [];
    const proxy = spawn(program, args, {
      stdio: 'ignore',
      env: {
        ...process.env,
        XDG_DATA_HOME: folder,
        XDG_CONFIG_HOME: folder,
        ROCKPOOL_SITE: 'localhost',
        ROCKPOOL_UPSTREAM: '127.0.0.1',
        PORT: String(upstreamPort),
      },
    });
    onTestFinished(() => void proxy.kill('SIGTERM'));
    // Only a request can show that the proxy has begun to listen.
    let status: number | null = null;
    while (status !== 200) status = await statusOf(port, '/health');

    for (const path of ['/metrics', '/sync/metrics', '/admin', '/admin/databases'])
      expect([path, await statusOf(port, path)]).toEqual([path, 404]);

    const token = await issueToken(
      new TextEncoder().encode(TEST_SECRET),
      { principal: 'ann', databases: [DATABASE], role: 'editor', ttlMs: 600_000 },
      Date.now(),
    );
    const open = async (): Promise<TestConnection> => {
      const connection = await TestConnection.connect(
        `wss://localhost:${port}/sync`,
        undefined,
        {
          // The server compares the origin with the Host that the proxy forwards.
          origin: `https://localhost:${port}`,
          'x-forwarded-for': '203.0.113.7',
        },
        { rejectUnauthorized: false },
      );
      await connection.open(token, DATABASE);
      return connection;
    };
    const [author, reader] = [await open(), await open()];
    await author.commit([insert('accounts', 'a', { name: 'through the proxy' })]);
    expect((await reader.delivery()).groups).toHaveLength(1);

    const { stderr } = await server.signal('SIGTERM');
    const opened = stderr.split('\n').filter((line) => line.includes('session-opened'));
    expect(opened).toHaveLength(2);
    // The address that the client claims is ignored.
    expect(stderr).not.toContain('203.0.113.7');
  },
);

/** The status of a GET through the proxy, or null while it does not respond. */
function statusOf(port: number, path: string): Promise<number | null> {
  return new Promise((resolve) => {
    httpsRequest({ host: 'localhost', port, path, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    })
      .once('error', () => resolve(null))
      .end();
  });
}
