import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { OAuth2Server } from 'oauth2-mock-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { testKeys, type TestKeys } from '../../testing/keys.ts';
import { issueToken, jwtAuthenticate } from './jwt.ts';

const nowS = Math.floor(Date.now() / 1000);
const claims: JWTPayload = {
  sub: 'ann',
  iss: 'https://id.example.org',
  aud: 'budget',
  nbf: nowS - 1,
  exp: nowS + 60,
  databases: ['household'],
  role: 'owner',
};
const rules = { issuer: 'https://id.example.org', audience: 'budget' };

let es: TestKeys;
let ed: TestKeys;
beforeAll(async () => {
  [es, ed] = await Promise.all([testKeys('ES256', 'k1'), testKeys('EdDSA', 'k2')]);
});

// Otherwise tokens that expire soon would expire before a busy machine gets to their test.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: nowS * 1000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('tokens of an identity provider', () => {
  it('are accepted if they are signed with one of its published ES256 or EdDSA keys', async () => {
    const authenticate = jwtAuthenticate(
      { ...rules, keySet: { keys: [...es.keySet.keys, ...ed.keySet.keys] } },
      Date.now,
    );
    for (const keys of [es, ed]) {
      expect(await authenticate(await keys.sign(claims))).toMatchObject({
        id: 'ann',
        databases: ['household'],
        role: 'owner',
        expiresAtMs: (nowS + 120) * 1000,
      });
    }
  });

  it.each(['RS256', 'PS256', 'ES384'] as const)('are accepted if signed with %s', async (alg) => {
    const keys = await testKeys(alg, 'k3');
    const authenticate = jwtAuthenticate({ ...rules, keySet: keys.keySet }, Date.now);
    expect(await authenticate(await keys.sign(claims))).toMatchObject({ id: 'ann' });
  });

  it('are accepted without nbf, and if the clocks differ by less than a minute', async () => {
    const authenticate = jwtAuthenticate({ ...rules, keySet: es.keySet }, Date.now);
    const { nbf: _, ...withoutStart } = claims;
    for (const payload of [withoutStart, { ...claims, nbf: nowS + 50 }, { ...claims, exp: nowS - 50 }])
      expect(await authenticate(await es.sign(payload))).toMatchObject({ id: 'ann' });
    await expect(authenticate(await es.sign({ ...claims, nbf: nowS + 70 }))).rejects.toMatchObject({
      code: 'auth-token-invalid',
    });
    await expect(authenticate(await es.sign({ ...claims, exp: nowS - 70 }))).rejects.toMatchObject({
      code: 'auth-token-expired',
    });
  });

  it('are rejected if the provider does not publish their key', async () => {
    const authenticate = jwtAuthenticate({ ...rules, keySet: es.keySet }, Date.now);
    await expect(authenticate(await ed.sign(claims))).rejects.toMatchObject({ code: 'auth-token-invalid' });
    await expect(authenticate(await (await testKeys('ES256', 'k1')).sign(claims))).rejects.toMatchObject({
      code: 'auth-token-invalid',
    });
    await expect(authenticate(await es.sign(claims, { kid: 'unheard-of' }))).rejects.toMatchObject({
      code: 'auth-token-invalid',
    });
  });

  it('are rejected if a public key was used as a secret', async () => {
    const published = new TextEncoder().encode(JSON.stringify(es.keySet.keys[0]));
    const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(published);
    for (const secret of [undefined, new TextEncoder().encode('another secret of more than 32 bytes')]) {
      const authenticate = jwtAuthenticate({ ...rules, keySet: es.keySet, ...(secret && { secret }) }, Date.now);
      await expect(authenticate(forged)).rejects.toMatchObject({ code: 'auth-token-invalid' });
    }
  });

  it('are rejected if any required claim is missing', async () => {
    const authenticate = jwtAuthenticate({ ...rules, keySet: es.keySet }, Date.now);
    for (const claim of ['sub', 'iss', 'aud', 'exp']) {
      const { [claim]: _, ...rest } = claims;
      await expect(authenticate(await es.sign(rest))).rejects.toMatchObject({ code: 'auth-token-invalid' });
    }
  });
});

describe('a key set at a URL', () => {
  let answer: () => { status: number; body: string };
  let fetchCount = 0;
  const provider = createServer((_, response) => {
    fetchCount++;
    const { status, body } = answer();
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  let url: URL;
  beforeAll(async () => {
    await new Promise<void>((resolve) => void provider.listen(0, '127.0.0.1', resolve));
    url = new URL(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`);
  });
  afterAll(() => void provider.close());

  it('is fetched on first use', async () => {
    answer = () => ({ status: 200, body: JSON.stringify(es.keySet) });
    expect(await jwtAuthenticate({ ...rules, keySet: url }, Date.now)(await es.sign(claims))).toMatchObject({
      id: 'ann',
    });
  });

  it('makes a token without a key id invalid if several of its keys could have signed it', async () => {
    const other = await testKeys('ES256', 'k3');
    answer = () => ({ status: 200, body: JSON.stringify({ keys: [...es.keySet.keys, ...other.keySet.keys] }) });
    const authenticate = jwtAuthenticate({ ...rules, keySet: url }, Date.now);
    const { privateKey } = await generateKeyPair('ES256');
    const nameless = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    await expect(authenticate(nameless)).rejects.toMatchObject({ code: 'auth-token-invalid' });
    expect(await authenticate(await es.sign(claims))).toMatchObject({ id: 'ann' });
  });

  it('makes tokens of every retired key invalid once it was fetched without that key', async () => {
    answer = () => ({ status: 200, body: JSON.stringify(es.keySet) });
    const authenticate = jwtAuthenticate({ ...rules, keySet: url }, Date.now);
    const retired = await Promise.all(['r1', 'r2'].map((kid) => es.sign(claims, { kid })));
    for (const token of retired) {
      // Keys are fetched again at most every 30 s.
      vi.advanceTimersByTime(31_000);
      await expect(authenticate(token)).rejects.toMatchObject({ code: 'auth-token-invalid' });
    }
    for (const token of retired)
      await expect(authenticate(token)).rejects.toMatchObject({ code: 'auth-token-invalid' });
    await expect(authenticate(await es.sign(claims, { kid: 'new' }))).rejects.toMatchObject({
      code: 'auth-unavailable',
    });
  });

  it('verifies tokens for a day after it was last fetched, and always reports a failed fetch', async () => {
    answer = () => ({ status: 200, body: JSON.stringify(es.keySet) });
    const failures: unknown[] = [];
    const authenticate = jwtAuthenticate({ ...rules, keySet: url }, Date.now, (error) => void failures.push(error));
    const token = await es.sign({ ...claims, exp: nowS + 7 * 24 * 3_600 });
    const unknown = await es.sign(claims, { kid: 'new' });
    const [minuteMs, dayMs] = [60_000, 24 * 3_600_000];
    await authenticate(token);
    answer = () => ({ status: 503, body: '' });
    fetchCount = 0;
    const authenticateAt = (ageMs: number): Promise<unknown> => {
      vi.setSystemTime(nowS * 1000 + ageMs);
      return authenticate(token);
    };
    await authenticateAt(9 * minuteMs);
    expect([fetchCount, failures.length]).toEqual([0, 0]);
    await Promise.all([authenticateAt(11 * minuteMs), authenticate(token)]);
    await authenticate(token);
    expect([fetchCount, failures.length]).toEqual([1, 1]);
    await expect(authenticate(unknown)).rejects.toMatchObject({ code: 'auth-unavailable' });
    await authenticateAt(dayMs - minuteMs);
    expect(failures).toHaveLength(2);
    for (let i = 0; i < 2; i++)
      expect(await authenticateAt(dayMs).catch((error: unknown) => error)).toMatchObject({
        code: 'auth-unavailable',
        cause: { message: expect.stringContaining('200 OK') as string },
      });
    expect(failures).toHaveLength(3);
    answer = () => ({ status: 200, body: JSON.stringify(es.keySet) });
    await authenticateAt(dayMs + minuteMs);
  });

  it('is fetched again after a clock that was ahead is set back', async () => {
    answer = () => ({ status: 200, body: JSON.stringify(es.keySet) });
    const authenticate = jwtAuthenticate({ ...rules, keySet: url }, Date.now);
    const next = await testKeys('ES256', 'next');
    vi.useFakeTimers({ toFake: ['Date'], now: (nowS + 24 * 3_600) * 1000 });
    try {
      await authenticate(await es.sign({ ...claims, exp: nowS + 48 * 3_600 }));
      vi.setSystemTime(nowS * 1000);
      answer = () => ({ status: 200, body: JSON.stringify(next.keySet) });
      expect(await authenticate(await next.sign(claims))).toMatchObject({ id: 'ann' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('makes tokens fail with auth-unavailable, not auth-token-invalid, while it cannot be fetched', async () => {
    answer = () => ({ status: 503, body: '' });
    const failures: unknown[] = [];
    const authenticate = jwtAuthenticate({ ...rules, keySet: url }, Date.now, (error) => void failures.push(error));
    const token = await es.sign(claims);
    fetchCount = 0;
    for (let i = 0; i < 2; i++)
      await expect(authenticate(token)).rejects.toMatchObject({ code: 'auth-unavailable', recovery: 'retry' });
    // A server that starts during an outage reports it too, and waits a second before it tries again.
    expect([fetchCount, failures.length]).toEqual([1, 1]);
    answer = () => ({ status: 200, body: JSON.stringify(es.keySet) });
    vi.advanceTimersByTime(1_000);
    expect(await authenticate(token)).toMatchObject({ id: 'ann' });
  });
});

describe('an OpenID Connect provider', () => {
  const provider = new OAuth2Server();
  let token: (scope?: Record<string, unknown>) => Promise<string>;
  beforeAll(async () => {
    await provider.issuer.keys.generate('RS256');
    await provider.start(0, '127.0.0.1');
    token = (extra = {}) =>
      provider.issuer.buildToken({
        scopesOrTransform: (_, payload) => void Object.assign(payload, { sub: 'ann', aud: 'budget', ...extra }),
      });
  });
  afterAll(() => provider.stop());
  const issuer = (): string => provider.issuer.url as string;

  it('is found by its issuer name, and its tokens are accepted', async () => {
    const authenticate = jwtAuthenticate({ oidcIssuer: issuer(), audience: 'budget' }, Date.now);
    expect(await authenticate(await token())).toMatchObject({ id: 'ann', role: 'viewer', databases: [] });
    await expect(authenticate(await token({ aud: 'another' }))).rejects.toMatchObject({ code: 'auth-token-invalid' });
    await expect(authenticate(await token({ iss: 'https://evil.test' }))).rejects.toMatchObject({
      code: 'auth-token-invalid',
    });
  });

  it('rotates its keys while the server runs', async () => {
    const authenticate = jwtAuthenticate({ oidcIssuer: issuer(), audience: 'budget' }, Date.now);
    await authenticate(await token());
    const { kid } = await provider.issuer.keys.generate('ES384');
    const rotated = await provider.issuer.buildToken({
      kid,
      scopesOrTransform: (_, payload) => void Object.assign(payload, { sub: 'ben', aud: 'budget' }),
    });
    // Keys are fetched again at most every 30 s. Until then, the new key is unknown.
    await expect(authenticate(rotated)).rejects.toMatchObject({ code: 'auth-unavailable' });
    expect(await jwtAuthenticate({ oidcIssuer: issuer(), audience: 'budget' }, Date.now)(rotated)).toMatchObject({
      id: 'ben',
    });
  });

  it('may move its key set while the server runs', async () => {
    const [minuteMs, documents] = [60_000, new Map<string, unknown>()];
    const moving = createServer(({ url = '' }, response) => {
      const content = documents.get(url);
      response.writeHead(content === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(content));
    });
    onTestFinished(() => void moving.close());
    await new Promise<void>((resolve) => void moving.listen(0, '127.0.0.1', resolve));
    const iss = `http://127.0.0.1:${(moving.address() as AddressInfo).port}`;
    const publishAt = (path: string, keySet: unknown): void => {
      documents.set(path, keySet);
      documents.set('/.well-known/openid-configuration', { issuer: iss, jwks_uri: iss + path });
    };
    const authenticate = jwtAuthenticate({ oidcIssuer: iss, audience: 'budget' }, Date.now);
    const [first, second] = await Promise.all([es, ed].map((keys) => keys.sign({ ...claims, iss, exp: nowS + 3_600 })));
    publishAt('/first', es.keySet);
    expect(await authenticate(first as string)).toMatchObject({ id: 'ann' });
    documents.clear();
    publishAt('/second', ed.keySet);
    vi.advanceTimersByTime(minuteMs / 2);
    expect(await authenticate(second as string)).toMatchObject({ id: 'ann' });
    // The old place still has keys, but the provider has withdrawn them.
    publishAt('/third', es.keySet);
    vi.advanceTimersByTime(10 * minuteMs);
    await expect(authenticate(second as string)).rejects.toMatchObject({ code: 'auth-token-invalid' });
    documents.delete('/.well-known/openid-configuration');
    vi.advanceTimersByTime(10 * minuteMs);
    expect(await authenticate(first as string)).toMatchObject({ id: 'ann' });
  });

  it('is looked up again after a failure', async () => {
    const discovery = createServer((_, response) => {
      const isFirst = ++lookUps === 1;
      response.writeHead(isFirst ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ issuer: here, jwks_uri: `${issuer()}/jwks` }));
    });
    let lookUps = 0;
    await new Promise<void>((resolve) => void discovery.listen(0, '127.0.0.1', resolve));
    const here = `http://127.0.0.1:${(discovery.address() as AddressInfo).port}`;
    const authenticate = jwtAuthenticate({ oidcIssuer: here, audience: 'budget' }, Date.now);
    const signed = await token({ iss: here });
    await expect(authenticate(signed)).rejects.toMatchObject({ code: 'auth-unavailable' });
    expect(await authenticate(signed)).toMatchObject({ id: 'ann' });
    expect(await authenticate(signed)).toMatchObject({ id: 'ann' });
    expect(lookUps).toBe(2);
    discovery.close();
  });

  it('makes tokens fail with auth-unavailable if it names keys at a URL with another scheme', async () => {
    const discovery = createServer((_, response) => {
      response.end(JSON.stringify({ issuer: here, jwks_uri: 'https://127.0.0.1:1/jwks' }));
    });
    await new Promise<void>((resolve) => void discovery.listen(0, '127.0.0.1', resolve));
    const here = `http://127.0.0.1:${(discovery.address() as AddressInfo).port}`;
    const failures: unknown[] = [];
    const authenticate = jwtAuthenticate(
      { oidcIssuer: here, audience: 'budget' },
      Date.now,
      (error) => void failures.push(error),
    );
    await expect(authenticate(await token({ iss: here }))).rejects.toMatchObject({ code: 'auth-unavailable' });
    expect(failures).toMatchObject([{ message: expect.stringContaining('URL scheme') as string }]);
    discovery.close();
  });

  it('does not change which tokens of the server’s own secret are accepted', async () => {
    const secret = new TextEncoder().encode('a secret of the server of more than 32 bytes');
    const authenticate = jwtAuthenticate({ secret, oidcIssuer: issuer(), audience: 'budget' }, Date.now);
    const request = { principal: 'ben', databases: [], ttlMs: 60_000 };
    expect(await authenticate(await issueToken(secret, request, Date.now(), { audience: 'budget' }))).toMatchObject({
      id: 'ben',
    });
    const claiming = await issueToken(secret, request, Date.now(), { audience: 'budget', issuer: issuer() });
    await expect(authenticate(claiming)).rejects.toMatchObject({ code: 'auth-token-invalid' });
    expect(await authenticate(await token())).toMatchObject({ id: 'ann' });
  });

  it('makes tokens fail with auth-unavailable while it does not respond, or names a different issuer', async () => {
    const signed = await token();
    for (const oidcIssuer of ['http://127.0.0.1:1', `${issuer()}/`]) {
      const authenticate = jwtAuthenticate({ oidcIssuer, audience: 'budget' }, Date.now);
      await expect(authenticate(signed)).rejects.toMatchObject({ code: 'auth-unavailable' });
    }
  });
});
