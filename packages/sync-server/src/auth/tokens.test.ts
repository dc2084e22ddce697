import { jwtVerify, SignJWT, UnsecuredJWT, generateKeyPair, type JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import type { RockpoolError } from '@rockpool/shared';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE, TEST_SECRET } from '../../testing/test-server.ts';
import type { TokenRequest } from './jwt.ts';
import type { Principal } from './principal.ts';

// How far the clock of the server under test is ahead, in ms. Both jose and the sessions use that clock.
let aheadMs = 0;
const tested = serverUnderTest({ now: () => Date.now() + aheadMs });
const secret = new TextEncoder().encode(TEST_SECRET);

const nowS = (): number => Math.floor(Date.now() / 1000);
const claims = (): JWTPayload => ({
  sub: 'ann',
  iss: 'rockpool-server',
  aud: 'rockpool',
  nbf: nowS(),
  exp: nowS() + 60,
  databases: [DATABASE],
  role: 'editor',
});

function sign(
  changes: Record<string, unknown>,
  alg = 'HS256',
  key: Parameters<SignJWT['sign']>[0] = secret,
): Promise<string> {
  const payload: Record<string, unknown> = { ...claims(), ...changes };
  for (const name of Object.keys(payload)) if (payload[name] === undefined) delete payload[name];
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(key);
}

async function refusal(token: string, databaseId = DATABASE): Promise<unknown> {
  const connection = await tested.server.connect();
  connection.hello(token, databaseId);
  const { code, fields } = await connection.failure();
  await connection.closes();
  return { code, fields };
}

describe('a token', () => {
  it('opens its database', async () => {
    const connection = await tested.server.connect();
    const { welcome } = await connection.open(await sign({}), DATABASE);
    expect(welcome.canWrite).toBe(true);
  });

  it.each<[string, () => Promise<string> | string, string]>([
    ['is missing', () => '', 'auth-token-invalid'],
    ['is noise', () => 'a.b.c', 'auth-token-invalid'],
    ['has expired', () => sign({ exp: nowS() - 1 }), 'auth-token-expired'],
    ['is not valid yet', () => sign({ nbf: nowS() + 60 }), 'auth-token-invalid'],
    ['never expires', () => sign({ exp: undefined }), 'auth-token-invalid'],
    ['is for another audience', () => sign({ aud: 'elsewhere' }), 'auth-token-invalid'],
    ['has no audience', () => sign({ aud: undefined }), 'auth-token-invalid'],
    ['is by another issuer', () => sign({ iss: 'elsewhere' }), 'auth-token-invalid'],
    ['has no issuer', () => sign({ iss: undefined }), 'auth-token-invalid'],
    ['names no principal', () => sign({ sub: undefined }), 'auth-token-invalid'],
    ['names a principal that cannot be stored', () => sign({ sub: 'a\0' }), 'auth-token-invalid'],
    ['lists no databases', () => sign({ databases: undefined }), 'auth-database-forbidden'],
    ['has a malformed list of databases', () => sign({ databases: DATABASE }), 'auth-token-invalid'],
    ['has an unknown role', () => sign({ role: 'admin' }), 'auth-token-invalid'],
    [
      'is signed with another secret',
      () => sign({}, 'HS256', new TextEncoder().encode('another secret of more than 32 bytes')),
      'auth-token-invalid',
    ],
    ['is signed with an HMAC of another length', () => sign({}, 'HS512'), 'auth-token-invalid'],
    [
      'is signed with a key pair',
      async () => sign({}, 'ES256', (await generateKeyPair('ES256')).privateKey),
      'auth-token-invalid',
    ],
    ['is unsigned', () => new UnsecuredJWT(claims()).encode(), 'auth-token-invalid'],
    ['lost its signature', async () => `${(await sign({})).split('.').slice(0, 2).join('.')}.`, 'auth-token-invalid'],
  ])('is refused if it %s', async (_, token, code) => {
    expect(await refusal(await token())).toMatchObject({ code });
  });

  it.each<[string, Record<string, unknown>]>([
    ['aud', { aud: 'elsewhere' }],
    ['iss', { iss: undefined }],
    ['nbf', { nbf: nowS() + 3_600 }],
    ['sub', { sub: 'a\0' }],
    ['databases', { databases: DATABASE }],
    ['formerly', { formerly: 'ben' }],
    ['role', { role: 'admin' }],
  ])(
    'that is refused for its claim %s names the claim to the client and in the log, and no value',
    async (claim, changes) => {
      const logged = tested.server.events.length;
      expect(await refusal(await sign(changes))).toEqual({ code: 'auth-token-invalid', fields: { claim } });
      await expect
        .poll(() => tested.server.events.slice(logged))
        .toContainEqual(
          expect.objectContaining({
            event: 'session-failed',
            fields: expect.objectContaining({ code: 'auth-token-invalid', claim }) as object,
          }),
        );
      expect(JSON.stringify(tested.server.events.slice(logged))).not.toMatch(/elsewhere|admin|ben/);
    },
  );

  it('opens its database if the instance that issued it has a clock that is half a minute ahead', async () => {
    aheadMs = 30_000;
    const issued = tested.server.token();
    aheadMs = 0;
    const connection = await tested.server.connect();
    expect((await connection.open(await issued, DATABASE)).welcome.canWrite).toBe(true);
  });

  it('gets the same response for the database of another user, a missing database and an invalid database id', async () => {
    await (await tested.server.open(undefined, { databaseId: 'foreign' })).close();
    const token = await sign({ databases: [DATABASE, '../household', ''] });
    const answers = await Promise.all(
      ['foreign', 'absent', '../household', '', 'household\u0000', 'HOUSEHOLD'].map((id) => refusal(token, id)),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ code: 'auth-database-forbidden', fields: {} })]),
    );
  });

  it('permits only to read if it has no role', async () => {
    const connection = await tested.server.connect();
    const { welcome } = await connection.open(await sign({ role: undefined }), DATABASE);
    expect(welcome.canWrite).toBe(false);
  });

  it('permits a viewer only to read', async () => {
    const writer = await tested.server.open();
    await writer.commit([insert('accounts', 'x', { name: 'x' })]);
    const reader = await tested.server.connect();
    const { welcome, first } = await reader.open(await tested.server.token('viewer'), DATABASE);
    expect(welcome.canWrite).toBe(false);
    expect(first.groups).toHaveLength(1);
    reader.site.write([insert('accounts', 'y', { name: 'y' })]);
    reader.push();
    expect(await reader.failure()).toMatchObject({ code: 'auth-forbidden' });
    expect(tested.server.query('SELECT id FROM accounts')).toEqual([['x']]);
  });

  it('never appears in the log', async () => {
    const token = await sign({ exp: nowS() - 1 });
    await refusal(token);
    expect(JSON.stringify(tested.server.events)).not.toContain(token.slice(0, 40));
    expect(JSON.stringify(tested.server.events)).toContain('auth-token-expired');
  });
});

describe('a session with an expired token', () => {
  it('ends even if the client sends nothing', async () => {
    const connection = await tested.server.connect();
    await connection.open(await sign({ exp: nowS() + 60 }), DATABASE);
    try {
      aheadMs = 61_000;
      expect(await connection.failure()).toMatchObject({ code: 'auth-token-expired' });
    } finally {
      aheadMs = 0;
    }
  });

  it('ends before it serves any further message', async () => {
    const connection = await tested.server.connect();
    await connection.open(await sign({ exp: nowS() + 60 }), DATABASE);
    connection.site.write([insert('accounts', 'x', { name: 'x' })]);
    try {
      aheadMs = 61_000;
      connection.push();
      expect(await connection.failure()).toMatchObject({ code: 'auth-token-expired' });
    } finally {
      aheadMs = 0;
    }
    expect(tested.server.query('SELECT id FROM accounts')).toEqual([]);
  });

  it('continues with a fresh token of the same principal', async () => {
    const connection = await tested.server.connect();
    await connection.open(await sign({ exp: nowS() + 30 }), DATABASE);
    try {
      connection.send({ type: 'renew-token', token: await sign({ exp: nowS() + 300 }) });
      await tested.server.logged('token-renewed');
      aheadMs = 31_000;
      expect(await connection.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
    } finally {
      aheadMs = 0;
    }
  });

  it.each([
    ['of another principal', () => sign({ sub: 'ben' }), 'auth-token-invalid'],
    ['for another database', () => sign({ databases: ['other'] }), 'auth-database-forbidden'],
    ['that is not a JWT', () => 'noise', 'auth-token-invalid'],
  ])('ends when it renews with a token %s', async (_, token, code) => {
    const connection = await tested.server.open();
    connection.send({ type: 'renew-token', token: await token() });
    expect(await connection.failure()).toMatchObject({ code });
  });
});

describe('issueToken', () => {
  it('rejects an invalid request and reports all its problems', async () => {
    const request = { principal: '', databases: DATABASE, role: 'admin' } as unknown as TokenRequest;
    const problems = ['principal', 'databases', 'role', 'ttlMs'].map((name) => `(^|\\n)${name}: `);
    const refused = await tested.server.sync.issueToken(request).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'config-invalid', fields: { count: problems.length } });
    for (const problem of problems) expect((refused as RockpoolError).fields['problems']).toMatch(new RegExp(problem));
  });
});

describe('a server whose identity provider does not respond', () => {
  const tested = serverUnderTest({ oidcIssuer: 'http://127.0.0.1:1' });

  it('lets clients retry, and reports the failure in the log and the metrics', async () => {
    const connection = await tested.server.connect();
    const unsigned = ['{"alg":"ES256"}', '{"iss":"http://127.0.0.1:1"}', 'x'];
    connection.hello(unsigned.map((part) => Buffer.from(part).toString('base64url')).join('.'), DATABASE);
    expect(await connection.failure()).toMatchObject({ code: 'auth-unavailable' });
    expect(tested.server.events).toContainEqual({ event: 'key-set-outdated', fields: expect.any(Object) as object });
    const metrics = await (await tested.server.ask('GET', '/metrics')).text();
    expect(metrics).toMatch(/^rockpool_key_set_failures_total 1$/m);
  });
});

describe('a host with its own authentication', () => {
  const sessions = new Map<string, Partial<Principal>>([
    ['letmein', { role: 'owner' }],
    ['expired', { role: 'owner', expiresAtMs: Date.now() }],
    ['without role', {}],
    // As a row of a database.
    ['without name', { name: null as unknown as string }],
    ['without id', { id: '' }],
    ['with NUL', { id: 'a\0' }],
    ['with a lone surrogate', { id: '\ud83d' }],
    ['with a long name', { name: `${'x'.repeat(99)}\u{1f600}` }],
  ]);
  const own = serverUnderTest({
    authenticate: (token) => {
      const session = sessions.get(token);
      if (session === undefined) throw new Error(`no such session: ${token}`);
      return Promise.resolve({ id: 'ann', databases: [DATABASE], expiresAtMs: Infinity, ...session });
    },
  });

  it('may return a principal whose session has expired, who is refused', async () => {
    const expired = await own.server.connect();
    expired.hello('expired', DATABASE);
    expect(await expired.failure()).toMatchObject({ code: 'auth-token-expired' });
    const status = async (token: string): Promise<number> =>
      (await own.server.ask('GET', `/databases/${DATABASE}/members`, { token })).status;
    expect([await status('letmein'), await status('expired')]).toEqual([200, 401]);
  });

  it('permits only to read if the principal has no role', async () => {
    const { welcome } = await (await own.server.connect()).open('without role', DATABASE);
    expect(welcome.canWrite).toBe(false);
  });

  it('may return a principal whose name is null', async () => {
    const { welcome } = await (await own.server.connect()).open('without name', DATABASE);
    expect(welcome.canWrite).toBe(false);
  });

  it.each(['without id', 'with NUL', 'with a lone surrogate'])(
    'may not return a principal %s, whose changes could not be stored',
    async (token) => {
      const connection = await own.server.connect();
      connection.hello(token, DATABASE);
      expect(await connection.failure()).toEqual({ type: 'failure', code: 'auth-token-invalid', fields: {} });
      expect(own.server.events).toContainEqual({
        event: 'authenticate-error',
        fields: expect.objectContaining({
          problem: expect.stringContaining('1 to 255 characters') as string,
        }) as object,
      });
    },
  );

  it('may return a name of any length, which others see shortened to whole characters', async () => {
    const [ann, ben] = [await own.server.connect(), await own.server.connect()];
    await ann.open('with a long name', DATABASE);
    await ben.open('letmein', DATABASE);
    const state = { tabId: new Uint8Array(16), topic: '', stateJson: '1' };
    ann.send({ type: 'presence', states: [state] });
    await ann.next('presence-update');
    ben.send({ type: 'presence', states: [] });
    expect(await ben.next('presence-update')).toMatchObject({ seen: [{ name: `${'x'.repeat(99)}\ufffd` }] });
  });

  it('decides by itself, and its errors do not reach clients', async () => {
    await (await own.server.connect()).open('letmein', DATABASE);
    const stranger = await own.server.connect();
    stranger.hello('s3cr3t', DATABASE);
    expect(await stranger.failure()).toEqual({ type: 'failure', code: 'auth-token-invalid', fields: {} });
    expect(JSON.stringify(own.server.events)).not.toContain('s3cr3t');
  });
});

describe('a server whose secret is being replaced', () => {
  const previous = new TextEncoder().encode('the secret until now, of more than 32 bytes');
  const rotating = serverUnderTest({ previousSecret: previous });

  it.each([
    ['the new secret', secret],
    ['the previous secret', previous],
  ])('accepts tokens signed with %s', async (_, key) => {
    const connection = await rotating.server.connect();
    const { welcome } = await connection.open(await sign({}, 'HS256', key), DATABASE);
    expect(welcome.canWrite).toBe(true);
  });

  it('signs tokens with the new secret', async () => {
    await expect(jwtVerify(await rotating.server.token('editor'), secret)).resolves.toBeDefined();
  });

  it.each<[string, () => Promise<string>, string]>([
    ['a token signed with a third secret', () => sign({}, 'HS256', new Uint8Array(40).fill(7)), 'auth-token-invalid'],
    ['an expired token of the previous one', () => sign({ exp: nowS() - 1 }, 'HS256', previous), 'auth-token-expired'],
    ['an expired token of the new one', () => sign({ exp: nowS() - 1 }), 'auth-token-expired'],
    ['a previous token for another audience', () => sign({ aud: 'x' }, 'HS256', previous), 'auth-token-invalid'],
  ])('refuses %s', async (_, token, code) => {
    const connection = await rotating.server.connect();
    connection.hello(await token(), DATABASE);
    expect(await connection.failure()).toMatchObject({ code });
  });
});
