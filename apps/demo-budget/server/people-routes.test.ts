import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeBudget, makeShareKey, type Budget } from '../src/budget/budget.ts';
import { rememberNothing } from '../src/budget/device-items.ts';
import { acceptInvitation } from '../src/share/accept-invitation.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

// Tested over HTTP with the real sync server, which stores the roles.

let folder: string;
let server: DemoServer;
let budget: Budget;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(path: string, body: object): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function invite(role: string, by: object = budget): Promise<string> {
  return (await post('/api/invitations', { ...by, role })).body['code'] as string;
}

async function comeAs(role: string, name = 'Ben'): Promise<Budget & { readonly principal: string }> {
  const { body } = await post('/api/join', { code: await invite(role), name });
  return body as unknown as Budget & { principal: string };
}

const keyOf = ({ databaseId, shareKey }: Budget): Budget => ({ databaseId, shareKey });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rockpool-demo-'));
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'dist', 'index.html'), '');
  server = await startDemoServer({
    distFolder: join(folder, 'dist'),
    dataFolder: join(folder, 'data'),
    host: '127.0.0.1',
    port: 0,
  });
  budget = makeBudget();
  await post('/api/budgets', { ...budget, principal: 'device-1' });
});

afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('an invitation', () => {
  it('admits one person, once, with a key of their own that no file stores', async () => {
    const code = await invite('viewer');
    const joined = await post('/api/join', { code, name: ' Ben ' });
    expect(joined).toMatchObject({ status: 200, body: { databaseId: budget.databaseId, role: 'viewer' } });
    expect(joined.body['shareKey']).not.toBe(budget.shareKey);
    expect((await post('/api/join', { code, name: 'Carla' })).status).toBe(404);
    expect((await post('/api/people', budget)).body).toMatchObject({
      people: [{ name: 'Ben', role: 'viewer', self: false }],
    });
    expect(readFileSync(join(folder, 'data', 'people.sqlite')).includes(joined.body['shareKey'] as string)).toBe(false);
  });

  it('is accepted again by a device that never received the response', async () => {
    const code = await invite('editor');
    const realFetch = fetch;
    const keys: unknown[] = [];
    let isLost = true;
    vi.stubGlobal('fetch', async (path: string, request: RequestInit) => {
      keys.push((JSON.parse(request.body as string) as { shareKey?: unknown }).shareKey);
      const response = await realFetch(`http://127.0.0.1:${server.port}${path}`, request);
      if (isLost) throw new TypeError('network error');
      return response;
    });
    rememberNothing();
    try {
      await expect(acceptInvitation(code, 'Ben')).rejects.toMatchObject({ problem: 'unreachable' });
      isLost = false;
      const joined = await acceptInvitation(code, 'Ben');
      expect(joined).toMatchObject({ databaseId: budget.databaseId, membership: { role: 'editor' } });
      expect(keys).toEqual([joined.shareKey, joined.shareKey]);
      // Each invitation gets its own key, so that two members on one device share nothing.
      await expect(acceptInvitation('other', 'Ben')).rejects.toMatchObject({ problem: 'invitation-invalid' });
      expect(keys[2]).not.toBe(joined.shareKey);
    } finally {
      vi.unstubAllGlobals();
    }
    expect((await post('/api/people', budget)).body).toMatchObject({ people: [{ name: 'Ben', role: 'editor' }] });
  });

  it('gives the holder of a key the same principal again, and nobody the principal of someone else', async () => {
    const code = await invite('viewer');
    const shareKey = makeShareKey();
    const joined = await post('/api/join', { code, name: 'Ben', shareKey });
    const { principal } = joined.body;
    expect(await post('/api/join', { code, name: 'Ben', shareKey })).toEqual(joined);
    expect((await post('/api/join', { code, name: 'Eve', shareKey: makeShareKey(), principal })).status).toBe(404);
    const eve = await post('/api/join', { code: await invite('viewer'), name: 'Eve', principal });
    expect([eve.status, eve.body['principal'] === principal]).toEqual([200, false]);
    expect((await post('/api/people/role', { ...budget, principal, role: null })).status).toBe(200);
    for (const again of [code, await invite('owner')])
      expect((await post('/api/join', { code: again, name: 'Ben', shareKey })).status).toBe(404);
    expect((await post('/api/people', budget)).body).toMatchObject({ people: [{ name: 'Eve' }] });
  });

  it('yields a token with its role, signed for the member instead of the principal that the device sends', async () => {
    const ben = await comeAs('viewer');
    const { status, body } = await post('/api/token', { ...keyOf(ben), principal: 'device-1' });
    // A link opens the budget on another device, which learns from the response whose key it is.
    expect([status, body['role'], body['principal']]).toEqual([200, 'viewer', ben.principal]);
    const [, claims = ''] = (body['token'] as string).split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      sub: ben.principal,
      role: 'viewer',
      databases: [budget.databaseId],
    });
  });

  it('makes a member under whose principal nobody else can write, not even with the key of the budget', async () => {
    const { principal } = await comeAs('editor');
    for (const path of ['/api/token', '/api/budgets'])
      for (const other of [principal, 'server'])
        expect(await post(path, { ...budget, principal: other, name: 'Eve' })).toEqual({
          status: 403,
          body: { code: 'principal-refused' },
        });
    expect((await post('/api/people', budget)).body).toMatchObject({ people: [{ name: 'Ben' }], authors: [] });
  });

  it('is created only by owners, including invited owners', async () => {
    for (const role of ['viewer', 'editor'])
      expect((await post('/api/invitations', { ...keyOf(await comeAs(role)), role: 'editor' })).status).toBe(403);
    expect(await invite('editor', keyOf(await comeAs('owner')))).toBeTypeOf('string');
    expect((await post('/api/invitations', { ...makeBudget(), role: 'editor' })).status).toBe(403);
  });
});

describe('a role', () => {
  it('is changed and removed by owners, with immediate effect', async () => {
    const ben = await comeAs('viewer');
    const tokenOf = async (): Promise<Answer> => post('/api/token', { ...keyOf(ben), principal: 'device-2' });
    expect((await post('/api/people/role', { ...budget, principal: ben.principal, role: 'editor' })).status).toBe(200);
    expect((await tokenOf()).body['role']).toBe('editor');
    expect((await post('/api/people/role', { ...budget, principal: ben.principal, role: null })).status).toBe(200);
    expect((await tokenOf()).status).toBe(403);
    expect((await post('/api/people', budget)).body).toMatchObject({ people: [] });
    expect((await post('/api/people', keyOf(ben))).status).toBe(403);
  });

  it('can be given up but not raised by its holder', async () => {
    const [ben, carla] = [await comeAs('editor'), await comeAs('viewer', 'Carla')];
    expect((await post('/api/people/role', { ...keyOf(ben), principal: ben.principal, role: 'owner' })).status).toBe(
      403,
    );
    expect((await post('/api/people/role', { ...keyOf(ben), principal: carla.principal, role: null })).status).toBe(
      403,
    );
    expect((await post('/api/people/role', { ...keyOf(ben), principal: ben.principal, role: null })).status).toBe(200);
    expect((await post('/api/people', budget)).body).toMatchObject({ people: [{ name: 'Carla' }] });
  });

  it('cannot be set for an unknown member (404)', async () => {
    expect((await post('/api/people/role', { ...budget, principal: 'device-1', role: null })).status).toBe(404);
  });
});

it.each([
  ['/api/invitations', { role: 'king' }],
  ['/api/people/role', { principal: 'x', role: 'king' }],
  ['/api/join', { code: 1, name: 'Ben' }],
  ['/api/join', { code: 'x', name: ' ' }],
  ['/api/join', { code: 'x', name: 'Ben', shareKey: 'short' }],
])('%s rejects %j', async (path, body) => {
  expect((await post(path, path === '/api/join' ? body : { ...budget, ...body })).status).toBe(400);
});
