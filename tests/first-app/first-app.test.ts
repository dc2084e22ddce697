import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../scripts/find-chromium.mjs';
import { cachedModules } from '../../scripts/tests/cached-modules.mjs';
import { freePort } from '#kit/free-port.ts';
import { atLevel } from '#kit/level.ts';
import { STEP_LIMIT_MS } from '#kit/step-limit.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

const root = new URL('../../examples/todo/', import.meta.url).pathname;

it('the guide has every file of the example, byte for byte', () => {
  const guide = readFileSync(new URL('../../docs/guides/first-app.md', import.meta.url), 'utf8');
  const shown = [...guide.matchAll(/^`([\w.]+)`:\n```\w+\n(.*?)^```$/gms)].map(
    ([, name = '', text = '']): [string, string] => [name, text],
  );
  for (const [name, text] of shown) expect(text).toBe(readFileSync(join(root, name), 'utf8'));
  const notShown = ['package.json', 'tsconfig.json'];
  const files = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !notShown.includes(entry.name),
  );
  expect(shown.map(([name]) => name).sort()).toEqual(files.map(({ name }) => name).sort());
});

describe('the app of the guide', () => {
  const dataDir = temporaryFolder();
  const cacheDir = temporaryFolder();
  let browser: Browser;
  let vite: ViteDevServer;
  let server: ChildProcess | null = null;
  let port = 0;

  async function startServer(): Promise<void> {
    if (server !== null) return;
    server = spawn(process.execPath, ['server.ts'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        TODO_PORT: String(port),
        TODO_DATA: dataDir,
        TODO_SECRET: 'a secret of this test, long enough',
      },
    });
    await once(server.stdout!, 'data');
  }

  async function stopServer(): Promise<void> {
    if (server === null) return;
    const gone = once(server, 'exit');
    server.kill('SIGTERM');
    await gone;
    server = null;
  }

  const contexts = new Map<string, Promise<BrowserContext>>();

  /** The browser of a person, in all tests. It keeps the app's two hundred modules, which take seconds to load. */
  function browserOf(person: string): Promise<BrowserContext> {
    const context = contexts.get(person) ?? browser.newContext();
    contexts.set(person, context);
    return context;
  }

  /** A tab of a person, which an earlier test may have opened: loading the modules takes longer than the tests. */
  async function tabOf(person: string): Promise<Page> {
    const context = browserOf(person);
    return (await context).pages()[0] ?? openTab(context);
  }

  /** Opens a tab of one person's browser. Tabs of one context share its storage. */
  async function openTab(context: Promise<BrowserContext>): Promise<Page> {
    const page = await (await context).newPage();
    page.setDefaultTimeout(STEP_LIMIT_MS);
    await page.goto(vite.resolvedUrls?.local[0] ?? '');
    const alert = page.getByRole('alert');
    for (;;) {
      await page.getByRole('heading', { name: 'Todos' }).or(alert).waitFor();
      if (!(await alert.isVisible())) return page;
      // On a busy machine, the modules of the worker may take longer to load than the client waits for them.
      expect(await alert.textContent()).toContain('is not responding');
      await page.getByRole('button', { name: 'Try again' }).click();
      await alert.waitFor({ state: 'detached' });
    }
  }

  const add = async (page: Page, title: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'New todo' }).fill(title);
    await page.keyboard.press('Enter');
  };
  const titles = async (page: Page): Promise<string[]> =>
    (await page.locator('li label').allTextContents()).map((title) => title.trim());
  const status = (page: Page): Promise<string | null> => page.getByRole('status').textContent();

  beforeAll(async () => {
    port = await freePort();
    process.env['TODO_PORT'] = String(port); // read by the app's Vite configuration
    await startServer();
    vite = await createServer({
      root,
      cacheDir,
      logLevel: 'error',
      plugins: [cachedModules()],
      server: { port: 0, host: 'localhost', hmr: false },
    });
    await vite.listen();
    const executablePath = findChromium();
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox'],
    });
  });

  afterAll(async () => {
    await browser.close();
    await vite.close();
    await stopServer();
  });

  it('shares a list between two tabs, works without a server, and syncs everything to another browser', async () => {
    const ours = browserOf('ann');
    const first = await tabOf('ann');
    const second = await openTab(ours);
    await add(first, 'milk');
    await expect.poll(() => titles(second)).toEqual(['milk']);
    await expect.poll(() => status(first)).toBe('up-to-date, 0 to send');

    await stopServer();
    await second.getByRole('button', { name: 'Note' }).click();
    const note = second.getByRole('textbox', { name: 'Note' });
    await expect.poll(() => note.isEnabled()).toBe(true);
    await note.pressSequentially('two litres');
    expect(await note.inputValue()).toBe('two litres');
    await add(second, 'bread');
    await expect.poll(() => titles(first)).toEqual(['milk', 'bread']);
    await second.reload();
    await expect.poll(() => titles(second)).toEqual(['milk', 'bread']);
    await expect.poll(() => status(second)).toMatch(/^offline, [1-9]\d* to send: /);

    await startServer();
    const other = await tabOf('bob');
    await expect.poll(() => titles(other)).toEqual(['milk', 'bread']);
    await other.getByRole('button', { name: 'Note' }).first().click();
    await expect.poll(() => other.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('two litres');
  });

  it('keeps each person’s letters together while two people type in one note', async () => {
    await startServer();
    const [ann, bob] = [await tabOf('ann'), await tabOf('bob')];
    await add(ann, 'cake');
    const noteOf = async (page: Page): Promise<Locator> => {
      await page.getByRole('listitem').filter({ hasText: 'cake' }).getByRole('button', { name: 'Note' }).click();
      const note = page.getByRole('textbox', { name: 'Note' });
      await expect.poll(() => note.isEnabled()).toBe(true);
      return note;
    };
    const [anns, bobs] = [await noteOf(ann), await noteOf(bob)];
    await anns.pressSequentially('hello');
    await expect.poll(() => bobs.inputValue()).toBe('hello');
    await bobs.press('Home');
    // Each letter arrives before the other person types the next one.
    for (const [letter, other] of [
      ['Space', 'o'],
      ['w', 'h'],
      ['o', ','],
      ['r', 'Space'],
    ] as const) {
      await ann.keyboard.press(letter);
      await expect.poll(async () => bobs.inputValue()).toBe(await anns.inputValue());
      await bob.keyboard.press(other);
      await expect.poll(async () => anns.inputValue()).toBe(await bobs.inputValue());
    }
    expect(await anns.inputValue()).toBe('oh, hello wor');
  });

  // Takes longer than the five seconds of the connection check, because the app has to open first.
  it.runIf(atLevel({ test: false, verify: true }))(
    'shows that the network was cut as soon as the connection was checked',
    async () => {
      await startServer();
      const context = await browser.newContext();
      const page = await openTab(Promise.resolve(context));
      await expect.poll(() => status(page)).toBe('up-to-date, 0 to send');
      // Records every text of the status line, because the next attempt soon replaces the reason.
      await page.evaluate(() => {
        const line = document.querySelector('[role=status]') as Element;
        const seen: string[] = [];
        new MutationObserver(() => {
          seen.push(line.textContent);
          document.body.dataset['seen'] = seen.join('\n');
        }).observe(line, { childList: true, characterData: true, subtree: true });
      });
      await context.setOffline(true);
      const seen = (): Promise<string> => page.evaluate(() => document.body.dataset['seen'] ?? '');
      await expect.poll(seen).toMatch(/^offline, .*stage=silence/m);
      expect(await seen()).toContain('stage=silence, waitedMs=5000');
    },
  );
});
