import { readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN } from '#sync-server/testing/admin-client.ts';
import { copied } from '#sync-server/testing/backup-state.ts';
import { insert } from '#sync-server/testing/changeset.ts';
import { serverUnderTest } from '#sync-server/testing/server-under-test.ts';
import { DATABASE, TestServer } from '#sync-server/testing/test-server.ts';
import { TEST_TABLES } from '#sync-server/testing/test-schema.ts';
import { buildSchema } from '#shared/index.ts';
import { atLevel } from '#kit/level.ts';
import { seriousViolations } from '#kit/serious-violations.ts';
import { STEP_LIMIT_MS } from '#kit/step-limit.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { findChromium } from '../../scripts/find-chromium.mjs';

const MARKUP = '<img src=x onerror="window.ran = true">';

const tested = serverUnderTest({ admin: { token: ADMIN_TOKEN } });
let browser: Browser;
let context: BrowserContext;
let page: Page;
let problems: string[];
// The host and port of the server that serves the page.
let host: string;

beforeAll(async () => {
  const executablePath = findChromium();
  browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox'],
  });
  context = await browser.newContext({ acceptDownloads: true });
  // Keeps the window open between tests: opening one takes Chromium a second of processor time.
  await context.newPage();
});
afterAll(() => browser.close());

beforeEach(async () => {
  problems = [];
  host = tested.server.host;
  page = await context.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MS);
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // A request that the server refuses is not a defect of the page.
    if (message.type() === 'error' && !message.text().includes('the server responded with a status'))
      problems.push(message.text());
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol === 'http:' && url.host !== host) problems.push(`asks ${url.host}`);
  });
});
afterEach(async () => {
  await page.close();
  expect(problems).toEqual([]);
});

const see = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
const status = (text: string): Promise<void> => page.getByRole('status').filter({ hasText: text }).waitFor();
const button = (name: string): ReturnType<Page['getByRole']> => page.getByRole('button', { name, exact: true });
const names = async (): Promise<string[]> =>
  (await page.getByRole('table', { name: 'Databases' }).getByRole('link').allTextContents()).sort();

async function signIn(token: string = ADMIN_TOKEN): Promise<void> {
  await page.goto(`http://${host}/admin`);
  await page.getByLabel('Operator token').fill(token);
  await page.keyboard.press('Enter');
}

async function openDatabase(): Promise<void> {
  await signIn();
  await page.getByRole('link', { name: DATABASE }).click();
  await page.getByRole('heading', { name: DATABASE }).waitFor();
}

/** A database with rows, a blocked device, members, and an invitation. */
async function fill(server: TestServer = tested.server): Promise<void> {
  const ann = await server.open();
  await ann.commit([insert('accounts', 'a', { name: 'a' })]);
  const old = await server.connect();
  old.hello(await server.token('editor', 'ben'), DATABASE, { schemaHash: 'of-another-app' });
  await old.failure();
  await server.sync.members.setRole(DATABASE, 'cyd', 'viewer');
  await server.sync.members.setRole(DATABASE, MARKUP, 'viewer');
  await server.sync.members.invite({ databaseId: DATABASE, role: 'editor', expiresAtMs: Date.now() + 3_600_000 });
}

async function accountsIn({ sync }: TestServer, databaseId: string): Promise<unknown> {
  let found: unknown;
  await sync.database(databaseId).transaction((tx) => {
    found = tx.query('SELECT id FROM accounts ORDER BY id');
  });
  return found;
}

it('the admin page asks for the token, keeps it only in its tab, and forgets it at sign-out', async () => {
  await fill();
  await signIn('wrong'.repeat(10));
  await page.getByRole('alert').filter({ hasText: 'rejected this token' }).waitFor();
  await signIn();
  await expect.poll(names).toEqual([DATABASE]);
  await page.reload();
  await expect.poll(names).toEqual([DATABASE]);
  const elsewhere = (await context.storageState()).origins.concat((await context.cookies()) as never);
  expect([elsewhere, page.url().includes(ADMIN_TOKEN)]).toEqual([[], false]);
  await button('Sign out').click();
  await page.getByLabel('Operator token').waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  expect(await page.getByRole('table').count()).toBe(0);
});

it('the admin page escapes markup in database contents and in the reasons that block a device', async () => {
  await fill();
  await openDatabase();
  await see(/\(schema-mismatch\)/);
  for (const [table, row] of [
    ['Devices', 'ann'],
    ['Members', MARKUP],
    ['Invitations', 'the server'],
    ['Tables', 'accounts'],
  ] as const)
    await page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: row }).waitFor();
  expect(await page.evaluate('window.ran')).toBe(undefined);
});

it('the admin page changes roles, revokes members and withdraws invitations', async () => {
  await fill();
  const { members } = tested.server.sync;
  await openDatabase();
  await page.getByLabel('Role of cyd').selectOption('owner');
  await status('cyd is now owner.');
  await page.getByRole('row').filter({ hasText: 'cyd' }).getByRole('button', { name: 'Revoke' }).click();
  await status('cyd is revoked.');
  await page.getByRole('textbox', { name: 'Principal' }).fill('dan');
  await page.getByLabel('Role', { exact: true }).selectOption('viewer');
  await button('Set role').click();
  await status('dan is now viewer.');
  expect(members.list(DATABASE)).toEqual(
    expect.arrayContaining([
      { principal: 'cyd', role: null },
      { principal: 'dan', role: 'viewer' },
    ]),
  );
  await button('Withdraw').click();
  await status('The invitation is withdrawn.');
  expect(await members.invitations(DATABASE)).toEqual([]);
});

it('the admin page shows the stored role after a change that failed, and no error of another program as its own', async () => {
  await fill();
  await openDatabase();
  const role = page.getByLabel('Role of cyd');
  const alert = (text: string): Promise<void> => page.getByRole('alert').filter({ hasText: text }).waitFor();
  const answers: readonly (readonly [number, string, string])[] = [
    [503, '{"code":"database-unavailable","message":"Stopping.","fields":{}}', 'Stopping.'],
    [502, '{"message":"bad gateway"}', 'The server responded with status 502.'],
  ];
  for (const [code, body, shown] of answers) {
    await page.route('**/members/cyd', (route) => route.fulfill({ status: code, body }), { times: 1 });
    await role.selectOption('owner');
    await alert(shown);
    expect(await role.inputValue()).toBe('viewer');
  }
  await page.route('**/close', (route) => route.fulfill({ body: '<!doctype html>' }), { times: 1 });
  await button('Close').click();
  await alert('The answer is incomplete, or not one of the server.');
});

it('the admin page continues the list that it shows, and opens with an address that names nothing', async () => {
  const all = Array.from({ length: 102 }, (_, i) => `a${String(i).padStart(3, '0')}`);
  await page.route('**/admin/api/databases?*', async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const row = { state: 'online', sizeBytes: 0, sessions: 0, watermark: 0, lag: null, members: 0, blockedDevices: 0 };
    const ids = all.filter((id) => id > (query.get('after') ?? '') && id.includes(query.get('contains') ?? ''));
    const databases = ids.slice(0, 100).map((id) => ({ id, ...row, lastWriteMs: null }));
    const server = { version: '1', store: 'files', threads: 1 };
    const next = ids.length > 100 ? databases.at(-1)?.id : null;
    await route.fulfill({ json: { server, total: all.length, databases, next } });
  });
  await signIn();
  await page.getByLabel('Find by id').fill('b');
  await button('Show more').click();
  await expect.poll(names).toEqual(all);
  await page.goto('about:blank');
  await page.goto(`http://${host}/admin#100%`);
  await page.getByRole('heading', { name: 'Databases' }).waitFor();
});

it('the admin page does not return to a database that the operator has left while a change was sent', async () => {
  await fill();
  await openDatabase();
  const sent = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await page.route('**/members/cyd', async (route) => {
    sent.resolve();
    await held.promise;
    await route.continue();
  });
  await page.getByLabel('Role of cyd').selectOption('owner');
  await sent.promise;
  await page.getByRole('link', { name: 'All databases' }).click();
  await expect.poll(names).toEqual([DATABASE]);
  held.resolve();
  await status('cyd is now owner.');
  expect(await page.getByRole('heading', { name: 'Databases' }).isVisible()).toBe(true);
});

it('the admin page drains, opens and downloads a database, and adds it again from the file', async () => {
  await fill();
  await openDatabase();
  await button('Drain').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
  await status('1 session ended.');
  await see('Drained');
  await button('Open').click();
  await status('Clients can use the database again.');
  const downloading = page.waitForEvent('download');
  await button('Download').click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe(`${DATABASE}.sqlite`);
  const file = await download.path();
  expect(readFileSync(file).subarray(0, 15).toString()).toBe('SQLite format 3');
  await page.getByRole('link', { name: 'All databases' }).click();
  await page.getByLabel('Id', { exact: true }).fill('copy');
  await page.getByLabel(/^File/).first().setInputFiles(file);
  await button('Add').click();
  await status('copy is added.');
  await expect.poll(names).toEqual(['copy', DATABASE].sort());
});

it('the admin page closes a database, and replaces it with a file after its id was typed', async () => {
  await fill();
  await openDatabase();
  await button('Close').click();
  await status('The file is closed until a client returns. 1 session ended.');
  const downloading = page.waitForEvent('download');
  await button('Download').click();
  const file = await (await downloading).path();
  const ann = await tested.server.open();
  await ann.commit([insert('accounts', 'later', { name: 'later' })]);
  await button('Replace').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('File').setInputFiles(file);
  await dialog.getByLabel('To confirm, type the id of the database').fill(DATABASE);
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await status('The database is replaced. The old file is');
  expect(await accountsIn(tested.server, DATABASE)).toEqual([['a']]);
});

it('the admin page revokes a principal in every database, and readmits them', async () => {
  await fill();
  const ann = await tested.server.open(undefined, { databaseId: 'other' });
  await signIn();
  const form = page.locator('#revoke');
  await form.getByLabel('Principal').fill('ann');
  await form.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await status('ann is revoked in every database.');
  expect(await ann.failure()).toMatchObject({ code: 'auth-database-forbidden' });
  await form.getByRole('button', { name: 'Readmit' }).click();
  await status('ann is readmitted.');
  expect((await tested.server.open(undefined, { databaseId: 'other' })).closed).toBeNull();
});

it('the admin page restores a past state as a new database, and says what is missing', async () => {
  const schema = buildSchema(TEST_TABLES.map((table) => ({ ...table, history: { retainedDays: null } })));
  const server = await TestServer.start(temporaryFolder(), { admin: { token: ADMIN_TOKEN }, schema });
  try {
    const write = (id: string): Promise<unknown> =>
      server.sync.database(DATABASE).transaction((tx) => tx.insert('accounts', { id, name: id }));
    await write('early');
    // The time field has no milliseconds, so the moment is a whole second.
    const atMs = Math.ceil((Date.now() + 1) / 1_000) * 1_000;
    await expect.poll(() => Date.now()).toBeGreaterThan(atMs);
    await write('late');
    ({ host } = server);
    await openDatabase();
    const local = (await page.evaluate(
      `new Date(${atMs} - new Date(${atMs}).getTimezoneOffset() * 60000).toISOString().slice(0, 19)`,
    )) as string;
    const dialog = page.getByRole('dialog');
    const restore = async (id: string): Promise<void> => {
      await button('Restore').click();
      await dialog.getByLabel('Time, in the time zone of this browser').fill(local);
      await dialog.getByLabel('Id of the new database').fill(id);
      await dialog.getByRole('button', { name: 'Restore' }).click();
    };
    await restore('before');
    await status(`before has the rows of ${DATABASE} at`);
    expect(await accountsIn(server, 'before')).toEqual([['early']]);
    await restore(DATABASE);
    await page.getByRole('alert').filter({ hasText: 'exists' }).waitFor();
    await button('Restore').click();
    await dialog.getByLabel('Id of the new database').fill('no spaces');
    await dialog.getByRole('button', { name: 'Restore' }).click();
    expect(await dialog.isVisible()).toBe(true);
  } finally {
    await server.stop();
  }
});

async function startWithBackup(): Promise<TestServer> {
  const server = await TestServer.start(temporaryFolder(), {
    admin: { token: ADMIN_TOKEN },
    backup: { to: temporaryFolder(), intervalMs: 5 },
  });
  ({ host } = server);
  return server;
}

it('the admin page lists the backups of a database, and adds the state of one as a new database', async () => {
  const server = await startWithBackup();
  try {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'early', { name: 'early' })]);
    await copied(server);
    const copiedMs = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(copiedMs);
    await ann.commit([insert('accounts', 'late', { name: 'late' })]);
    await copied(server);
    await openDatabase();
    const rows = page.getByRole('table', { name: 'Backups' }).getByRole('row');
    await see(/^\d+ backups in /);
    // The row below the newest one: the state before the last change.
    const earlier = rows.nth(2);
    await earlier.getByRole('button', { name: 'Restore' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Time, in the time zone of this browser').isVisible()).toBe(false);
    await dialog.getByLabel('Id of the new database').fill('before');
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await status(`before has the rows of ${DATABASE} at`);
    expect(await accountsIn(server, 'before')).toEqual([['early']]);
    await rows.filter({ hasText: 'The whole file' }).last().waitFor();
  } finally {
    await server.stop();
  }
});

it('the admin page deletes a database by keyboard alone, but only after its id was typed', async () => {
  await fill();
  await openDatabase();
  await button('Delete').focus();
  await page.keyboard.press('Enter');
  const typed = page.getByLabel('To confirm, type the id of the database');
  await typed.waitFor();
  await page.keyboard.type('other');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('dialog').isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  await typed.waitFor({ state: 'hidden' });
  await button('Delete').focus();
  await page.keyboard.press('Enter');
  await typed.waitFor();
  await page.keyboard.type(DATABASE);
  await page.keyboard.press('Enter');
  await status(`${DATABASE} is deleted.`);
  expect(await names()).toEqual([]);
});

it('the admin page has no serious accessibility defects and no sideways scrolling, on a phone and in dark mode', async () => {
  const server = await startWithBackup();
  onTestFinished(() => server.stop());
  await fill(server);
  await copied(server);
  const windows = atLevel<readonly (readonly [number, ...('light' | 'dark')[]])[]>({
    test: [
      [1280, 'light'],
      [390, 'dark'],
    ],
    verify: [
      [1280, 'light', 'dark'],
      [390, 'light', 'dark'],
    ],
  });
  for (const [width, ...schemes] of windows)
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await openDatabase();
      await page.getByRole('table', { name: 'Backups' }).waitFor();
      for (const place of ['database', 'list', 'sign-in']) {
        if (place === 'list') await page.getByRole('link', { name: 'All databases' }).click();
        if (place === 'list') await expect.poll(names).toEqual([DATABASE]);
        if (place === 'sign-in') await button('Sign out').click();
        const view = `${place} ${width} ${colorScheme}`;
        expect(await page.evaluate('document.documentElement.scrollWidth'), view).toBeLessThanOrEqual(width);
        expect(await seriousViolations(page), view).toEqual([]);
      }
    }
});
