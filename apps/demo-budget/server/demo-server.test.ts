import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeBudget } from '../src/budget/budget.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

let folder: string;
let server: DemoServer;

const start = (port = 0): Promise<DemoServer> =>
  startDemoServer({ distFolder: join(folder, 'dist'), dataFolder: join(folder, 'data'), host: '127.0.0.1', port });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rockpool-demo-'));
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'dist', 'index.html'), '<p>budget</p>');
  server = await start();
});

afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function ask(path: string, init?: RequestInit): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, init);
}

describe('the demo server', () => {
  it('serves the app, answers health checks, and responds 404 to other paths', async () => {
    const page = await ask('/');
    expect(await page.text()).toBe('<p>budget</p>');
    expect(page.headers.get('content-length')).toBe('13');
    expect((await ask('/', { method: 'HEAD' })).status).toBe(200);
    expect((await ask('/health')).status).toBe(200);
    expect((await ask('/signing-secret')).status).toBe(404);
    expect((await ask('/%00')).status).toBe(404);
    expect(await (await ask('/budgets/1')).json()).toEqual({ error: 'not-found' });
  });

  it('issues a token for a registered budget, also after a restart', async () => {
    const body = JSON.stringify({ ...makeBudget(), principal: 'device-1' });
    const registered = await ask('/api/budgets', { method: 'POST', body });
    expect(registered.status).toBe(201);
    const { token } = (await registered.json()) as { token: string };
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    expect(claims).toMatchObject({
      sub: 'device-1',
      databases: [(JSON.parse(body) as { databaseId: string }).databaseId],
      role: 'owner',
    });
    await server.stop();
    server = await start();
    expect((await ask('/api/token', { method: 'POST', body })).status).toBe(200);
  });

  it('rejects a WebSocket from a page of a different origin', async () => {
    const refused = new WebSocket(`ws://127.0.0.1:${server.port}/sync`, {
      headers: { origin: 'http://elsewhere.example' },
    } as never);
    const failed = await new Promise<boolean>((resolve) => {
      refused.addEventListener('open', () => resolve(false));
      refused.addEventListener('error', () => resolve(true));
    });
    expect(failed).toBe(true);
  });

  it('finds budgets in the folder layout of an older demo', async () => {
    await server.stop();
    const deeper = join(folder, 'data/databases/databases');
    mkdirSync(deeper, { recursive: true });
    for (const name of ['db-a.sqlite', 'db-a.sqlite-wal']) writeFileSync(join(deeper, name), name);
    writeFileSync(join(folder, 'data/databases/server.lock'), '');
    server = await start();
    expect(readdirSync(join(folder, 'data/databases')).sort()).toEqual(['db-a.sqlite', 'db-a.sqlite-wal']);
  });

  it('reports that its port or data folder is in use, and releases everything it opened', async () => {
    await expect(
      startDemoServer({
        distFolder: join(folder, 'dist'),
        dataFolder: join(folder, 'other'),
        host: '127.0.0.1',
        port: server.port,
      }),
    ).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await expect(start()).rejects.toMatchObject({ code: 'database-unavailable' });
    const second = await startDemoServer({
      distFolder: join(folder, 'dist'),
      dataFolder: join(folder, 'other'),
      host: '127.0.0.1',
      port: 0,
    });
    await second.stop();
  });
});
