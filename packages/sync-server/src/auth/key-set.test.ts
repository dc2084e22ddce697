import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testKeys, type TestKeys } from '../../testing/keys.ts';
import { jwtAuthenticate } from './jwt.ts';

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

describe('tokens of an identity provider', () => {
  it('are accepted with its published keys, by ES256 and EdDSA', async () => {
    const authenticate = jwtAuthenticate(
      { ...rules, keySet: { keys: [...es.keySet.keys, ...ed.keySet.keys] } },
      Date.now,
    );
    for (const keys of [es, ed]) {
      expect(await authenticate(await keys.sign(claims))).toMatchObject({
        id: 'ann',
        databases: ['household'],
        role: 'owner',
        expiresAtMs: (nowS + 60) * 1000,
      });
    }
  });

  it('are rejected with a key that it does not publish', async () => {
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
    for (const claim of ['sub', 'iss', 'aud', 'nbf', 'exp']) {
      const { [claim]: _, ...rest } = claims;
      await expect(authenticate(await es.sign(rest))).rejects.toMatchObject({ code: 'auth-token-invalid' });
    }
  });
});

describe('a key set at a URL', () => {
  let answer: () => { status: number; body: string };
  const provider = createServer((_, response) => {
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

  it('makes tokens fail with auth-unavailable, not auth-token-invalid, while it cannot be fetched', async () => {
    answer = () => ({ status: 503, body: '' });
    await expect(jwtAuthenticate({ ...rules, keySet: url }, Date.now)(await es.sign(claims))).rejects.toMatchObject({
      code: 'auth-unavailable',
      recovery: 'retry',
    });
  });
});
