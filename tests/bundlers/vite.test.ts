import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { chromium, type Browser } from 'playwright';
import { build, createServer, type InlineConfig } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../scripts/find-chromium.mjs';
import { atLevel } from '#kit/level.ts';
import { STEP_LIMIT_MS } from '#kit/step-limit.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

// The README's quick start as an app would use it: no plugin, and no header but each file's content type.
const root = new URL('../../examples/quick-start/', import.meta.url).pathname;
const outDir = temporaryFolder();
const cacheDir = temporaryFolder();
const config: InlineConfig = {
  root,
  cacheDir,
  configFile: false,
  logLevel: 'error',
  build: { outDir, emptyOutDir: true, target: 'es2023' },
  worker: { format: 'es' },
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

let browser: Browser;

beforeAll(async () => {
  const executablePath = findChromium();
  browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox'],
  });
});

afterAll(async () => {
  await browser.close();
});

const guide = readFileSync(new URL('../../docs/guides/production.md', import.meta.url), 'utf8');
/** The policy of the guide. */
const policy = /^Content-Security-Policy: (.+)$/m.exec(guide)?.[1] ?? '';

/** The page's output once the client works. */
async function bodyAt(url: string): Promise<string> {
  const page = await browser.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MS);
  try {
    await page.goto(url);
    await page.waitForFunction(() => document.body.textContent.includes('milk'));
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(false);
    return await page.evaluate(() => document.body.textContent.trim());
  } finally {
    await page.close();
  }
}

/** The page's error. */
async function errorAt(url: string): Promise<string> {
  const page = await browser.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MS);
  try {
    const failed = page.waitForEvent('pageerror');
    await page.goto(url);
    return (await failed).message;
  } finally {
    await page.close();
  }
}

describe('Vite, without a plugin and without COOP or COEP', () => {
  it('builds an app that any file server can serve', async () => {
    await build(config);
    const assets = readdirSync(join(outDir, 'assets'));
    expect(assets.filter((name) => name.endsWith('.wasm'))).toHaveLength(1);
    expect(assets.some((name) => name.startsWith('entry') && name.endsWith('.js'))).toBe(true);
    const headers = new Headers();
    const server = createHttpServer((request, response) => {
      response.setHeaders(headers);
      const path = request.url === '/' ? '/index.html' : (request.url ?? '');
      readFile(join(outDir, path)).then(
        (body) => response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream').end(body),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    try {
      const address = `http://localhost:${(server.address() as AddressInfo).port}`;
      expect(await bodyAt(`${address}/`)).toBe('buy milk');
      headers.set('content-security-policy', policy);
      expect(await bodyAt(`${address}/`)).toBe('buy milk');
      headers.set('content-security-policy', policy.replace(" 'wasm-unsafe-eval'", ''));
      const refused = 'Part of the app’s code could not be loaded. (part=sqlite, problem=';
      const blocked = await errorAt(`${address}/`);
      expect(blocked).toContain(refused);
      expect(blocked).toMatch(/content.security.policy/i);
      headers.delete('content-security-policy');
      const wasm = assets.find((name) => name.endsWith('.wasm')) ?? '';
      renameSync(join(outDir, 'assets', wasm), join(outDir, wasm));
      expect(await errorAt(`${address}/`)).toContain(refused);
      renameSync(join(outDir, wasm), join(outDir, 'assets', wasm));
      // Simulates a bundler that does not know the expression, or a deployment that lacks a file.
      const entry = assets.find((name) => name.startsWith('entry') && name.endsWith('.js')) ?? '';
      rmSync(join(outDir, 'assets', entry));
      expect(await errorAt(`${address}/`)).toContain(
        `The worker script could not be loaded. (url=${address}/assets/${entry}, problem=no script found at this address, status=404`,
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  // In `npm test`, the example of the first app is served in development mode.
  it.runIf(atLevel({ test: false, verify: true }))('serves the app in development mode', async () => {
    const server = await createServer({ ...config, server: { port: 0, host: 'localhost', hmr: false } });
    await server.listen();
    try {
      expect(await bodyAt(server.resolvedUrls?.local[0] ?? '')).toBe('buy milk');
    } finally {
      await server.close();
    }
  });
});
