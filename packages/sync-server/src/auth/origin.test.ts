import { describe, expect, it } from 'vitest';
import { HttpSessionClient } from '../../testing/http-session-client.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { isOriginAllowed, originProblem } from './origin.ts';

const HOST = 'sync.example.org';
const LISTED = ['https://app.example.org'];

describe('an origin', () => {
  it.each([
    [undefined, true],
    ['https://sync.example.org', true],
    ['https://app.example.org', true],
    ['https://example.org', false],
    ['https://app.example.org.evil.test', false],
    ['https://evil-app.example.org', false],
    ['http://app.example.org', false],
    ['https://sync.example.org:8443', false],
    ['null', false],
    ['', false],
    ['file://sync.example.org', false],
    ['not a url', false],
  ])('%s is allowed: %s', (origin, allowed) => {
    expect(isOriginAllowed(origin, HOST, LISTED)).toBe(allowed);
  });

  it('is not allowed if Host is missing', () => {
    expect(isOriginAllowed('https://sync.example.org', undefined, LISTED)).toBe(false);
  });

  it('must be listed in the form that browsers send', () => {
    expect(originProblem('https://app.example.org')).toBeNull();
    expect(originProblem('https://app.example.org/')).toContain('did you mean https://app.example.org');
    expect(originProblem('app.example.org')).toContain('such as https://app.example.org');
    expect(originProblem('capacitor://localhost')).toBeNull();
    expect(originProblem('tauri://localhost/')).toContain('is not an origin');
    expect(originProblem('file:///')).toContain('is not an origin');
    expect(originProblem('localhost:5173')).toContain('such as https://app.example.org or http://localhost:5173');
  });
});

describe('a WebSocket from a page', () => {
  const tested = serverUnderTest({ origins: LISTED });

  it('is refused before the upgrade if the origin is foreign', async () => {
    await expect(tested.server.connect(undefined, { origin: 'https://evil.test' })).rejects.toThrow('403');
    await expect(tested.server.connect(undefined, { origin: 'null' })).rejects.toThrow('403');
  });

  it('is named in the log when it is refused, truncated to a maximum length', async () => {
    const long = `https://${'a'.repeat(5_000)}.test`;
    for (const origin of ['https://other.test', long]) {
      await expect(tested.server.connect(undefined, { origin })).rejects.toThrow('403');
      await tested.server.ask('GET', '/health', { headers: { origin } });
    }
    const refused = tested.server.events.filter(({ event }) => event === 'origin-refused').slice(-4);
    const cut = long.slice(0, 300);
    expect(refused).toMatchObject(
      ['https://other.test', 'https://other.test', cut, cut].map((origin) => ({ fields: { origin } })),
    );
  });

  it('is accepted from the server’s own or a listed origin', async () => {
    for (const origin of [`http://${tested.server.host}`, 'https://app.example.org']) {
      const connection = await tested.server.connect(undefined, { origin });
      expect((await connection.open(await tested.server.token(), DATABASE)).welcome.canWrite).toBe(true);
      await connection.close();
    }
  });
});

describe('a request from a page', () => {
  const tested = serverUnderTest({ origins: LISTED });
  const preflight = (origin: string): Promise<Response> =>
    tested.server.ask('OPTIONS', `/databases/${DATABASE}/snapshot`, {
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,range',
      },
    });

  it('may read the response if its origin is listed, without a wildcard or cookies', async () => {
    const origin = LISTED[0] as string;
    const allowed = await preflight(origin);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-headers')).toMatch(/authorization.*range/);
    const answer = await tested.server.ask('GET', '/health', { headers: { origin } });
    for (const { headers } of [allowed, answer]) {
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      // A cache must not serve the response for one origin to another.
      expect(headers.get('vary')).toMatch(/origin/i);
    }
  });

  it('may read every header of Rockpool in the responses of a session over plain HTTP', async () => {
    const headers = { origin: LISTED[0] as string };
    const client = await HttpSessionClient.open((method, path, options) =>
      tested.server.ask(method, path, { ...options, headers }),
    );
    await client.hello('noise', DATABASE);
    const answer = await tested.server.ask('GET', `/sessions/${client.id}`, { headers });
    const exposed = (answer.headers.get('access-control-expose-headers') ?? '').split(',');
    expect([...answer.headers.keys()].filter((name) => name.startsWith('rockpool-'))).toEqual(['rockpool-close']);
    expect(exposed).toContain('rockpool-close');
  });

  it('is refused before authentication if the origin is foreign', async () => {
    for (const origin of ['https://evil.test', 'null', 'https://app.example.org.evil.test']) {
      const { status, headers } = await preflight(origin);
      expect([status, headers.get('access-control-allow-origin')]).toEqual([403, null]);
    }
  });
});
