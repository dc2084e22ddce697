import { mkdtempSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeBudget } from '../src/budget/budget.ts';
import { answerBudgetRoute } from './budget-routes.ts';
import { openBudgets, type Budgets } from './budgets.ts';
import { signingSecret } from './signing-secret.ts';
import { compressBuild } from './compress-build.ts';
import { staticFiles } from './static-files.ts';

let folder: string;
let budgets: Budgets;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rockpool-demo-'));
  budgets = openBudgets(folder);
});

afterEach(() => {
  budgets.close();
  rmSync(folder, { recursive: true, force: true });
});

function post(path: string, body: string): Promise<Response | undefined> {
  const request = new Request(`http://demo${path}`, { method: 'POST', body });
  return answerBudgetRoute(request, {
    budgets,
    issueToken: ({ databaseId, principal, name }) =>
      Promise.resolve(`${databaseId} ${principal}${name === '' ? '' : ` ${name}`}`),
    rememberAuthor: () => undefined,
    roleOfKey: (databaseId, key) =>
      budgets.check(databaseId, key) === 'known' ? { role: 'owner', person: undefined } : undefined,
  });
}

const budget = makeBudget();
const body = JSON.stringify({ ...budget, principal: 'device-1' });

describe('the budget routes', () => {
  it('register a budget that a browser created, once', async () => {
    expect((await post('/api/token', body))?.status).toBe(404);
    const registered = await post('/api/budgets', body);
    expect(registered?.status).toBe(201);
    expect(await registered?.json()).toEqual({ ...budget, token: `${budget.databaseId} device-1`, role: 'owner' });
    expect((await post('/api/budgets', body))?.status).toBe(200);
    expect(await (await post('/api/token', body))?.json()).toEqual({
      token: `${budget.databaseId} device-1`,
      role: 'owner',
    });
  });

  it('reject a different key for a registered budget', async () => {
    await post('/api/budgets', body);
    const other = JSON.stringify({ ...budget, shareKey: makeBudget().shareKey, principal: 'device-2' });
    expect((await post('/api/budgets', other))?.status).toBe(403);
    expect((await post('/api/token', other))?.status).toBe(403);
    expect((await post('/api/token', body))?.status).toBe(200);
  });

  it('create a budget if the body is empty', async () => {
    const made = await post('/api/budgets', '');
    expect(made?.status).toBe(201);
    const { databaseId, shareKey } = (await (made ?? new Response()).json()) as {
      databaseId: string;
      shareKey: string;
    };
    expect(budgets.check(databaseId, shareKey)).toBe('known');
  });

  it.each([
    ['nothing', '', 400],
    ['no JSON', '{', 400],
    ['null', 'null', 400],
    ['a path for an id', JSON.stringify({ ...budget, databaseId: '../../etc/passwd', principal: 'd' }), 400],
    ['a name with markup', JSON.stringify({ ...budget, principal: '<b>' }), 400],
    ['a person with a name too long', JSON.stringify({ ...budget, principal: 'd', name: 'x'.repeat(41) }), 400],
    ['too much', ' '.repeat(2_000), 413],
  ])('reject %s', async (_, text, status) => {
    expect((await post('/api/token', text))?.status).toBe(status);
  });

  it('accept only POST, and leave other paths to other routes', async () => {
    const routes = {
      budgets,
      issueToken: () => Promise.resolve(''),
      rememberAuthor: () => undefined,
      roleOfKey: () => undefined,
    };
    expect((await answerBudgetRoute(new Request('http://demo/api/token'), routes))?.status).toBe(405);
    expect(await answerBudgetRoute(new Request('http://demo/'), routes)).toBeUndefined();
  });

  it('remember budgets across a server restart, without storing their keys', async () => {
    await post('/api/budgets', body);
    budgets.close();
    expect(readFileSync(join(folder, 'budgets.sqlite')).includes(budget.shareKey)).toBe(false);
    budgets = openBudgets(folder);
    expect(budgets.check(budget.databaseId, budget.shareKey)).toBe('known');
  });
});

describe('the signing secret', () => {
  it('is created once, readable by its owner alone', () => {
    const secret = signingSecret(folder);
    expect(secret.length).toBe(32);
    expect(signingSecret(folder)).toEqual(secret);
    expect(statSync(join(folder, 'signing-secret')).mode & 0o777).toBe(0o600);
  });
});

describe('static files', () => {
  it('are sent as compressed by the build, if the browser accepts the encoding', async () => {
    const dist = join(folder, 'compressed');
    mkdirSync(join(dist, 'assets'), { recursive: true });
    writeFileSync(join(dist, 'assets', 'a-1.js'), 'let a;'.repeat(1_000));
    compressBuild(dist);
    const files = await staticFiles(dist);
    const sent = async (accept: string): Promise<[string | null | undefined, number]> => {
      const response = await files.answer('/assets/a-1.js', accept);
      return [response?.headers.get('content-encoding'), (await response?.arrayBuffer())?.byteLength ?? 0];
    };
    expect((await sent('gzip, deflate, br, zstd'))[0]).toBe('br');
    expect((await sent('gzip'))[0]).toBe('gzip');
    expect((await sent('gzip'))[1]).toBeLessThan(200);
    expect(await sent('br;q=0')).toEqual([null, 6_000]);
    expect(await files.answer('/assets/a-1.js.br', 'br')).toBeUndefined();
  });

  it('are served only from their own folder', async () => {
    const dist = join(folder, 'dist');
    mkdirSync(join(dist, 'assets'), { recursive: true });
    writeFileSync(join(dist, 'index.html'), '<p>hello</p>');
    writeFileSync(join(dist, 'assets', 'a-1.js'), 'let a;');
    const files = await staticFiles(dist);
    const page = await files.answer('/', '');
    expect(await page?.text()).toBe('<p>hello</p>');
    expect(page?.headers.get('content-security-policy')).toContain("default-src 'self'");
    const script = await files.answer('/assets/a-1.js', '');
    expect(script?.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script?.headers.get('cache-control')).toContain('immutable');
    await script?.body?.cancel();
    for (const path of ['/../signing-secret', '/..%2fsigning-secret', '/assets', '/missing.js'])
      expect(await files.answer(path, '')).toBeUndefined();
  });
});
