import type { Locator, Page } from 'playwright/test';
import { expect, test, type Person } from './harness/test.ts';
import { heldClock, moveClock } from './harness/shifted-clock.ts';
import { serverDatabase } from './harness/server-database.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

function notes(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Notes of this budget' });
}

/** The note's text, line by line. */
function written(page: Page): Promise<string> {
  return notes(page)
    .locator(':scope > :not(ol), li')
    .evaluateAll((lines) => lines.map(({ textContent }) => textContent).join('\n'));
}

/** The editor starts a new undo step after a pause of half a second. */
const UNDO_STEP_MS = 1_000;

/** The names shown beside remote cursors. */
function cursors(page: Page): Locator {
  return page.locator('.note-cursor');
}

async function callOneself(page: Page, name: string): Promise<void> {
  await goTo(page, 'Share');
  await page.getByRole('textbox', { name: 'The name that others see' }).fill(name);
  await page.getByRole('button', { name: 'Save name' }).click();
  await expect(page.getByText('Saved on this device.')).toBeVisible();
}

test('two people write and format one note at the same time and see each other, with one offline for a while', async ({
  newPerson,
  server,
}) => {
  const anna = await newPerson({ scriptPrefix: heldClock });
  await goTo(anna.page, 'Notes');
  await anna.page.getByRole('button', { name: 'Start writing' }).click();
  await notes(anna.page).click();
  await anna.page.keyboard.type('Summer');
  await expectUpToDate(anna.page);
  const link = await shareLink(anna.page);
  const ben = await newPerson({ link, keepsAppFiles: true });
  await callOneself(anna.page, 'Anna');
  await callOneself(ben.page, 'Ben Berg');
  for (const { page } of [anna, ben]) {
    await goTo(page, 'Notes');
    await expect(notes(page)).toHaveText('Summer');
  }

  // Both see who is present and on which page.
  await expect(anna.page.getByRole('link', { name: 'Also here: Ben Berg' })).toBeVisible();
  await notes(anna.page).click();
  await anna.page.keyboard.press('End');
  await expect(cursors(ben.page)).toHaveText(['Anna']);
  await notes(ben.page).click();
  await ben.page.keyboard.press('Control+Home');

  // Both type at the same time.
  await Promise.all([type(anna, ' at the lake'), type(ben, 'Our ')]);
  for (const { page } of [anna, ben]) await expect.poll(() => written(page)).toBe('Our Summer at the lake');

  // Ben goes offline, and both keep typing.
  await ben.goOffline();
  await expect(syncBadge(ben.page)).toHaveText(/Offline|Connecting/);
  await type(ben, 'dear ');
  await ben.page.keyboard.press('Control+End');
  await type(ben, '!');
  // Text typed without a pause is one undo step.
  await moveClock(anna.page, UNDO_STEP_MS);
  await anna.page.keyboard.press('Control+End');
  await type(anna, ', in June');
  expect(await written(anna.page)).toBe('Our Summer at the lake, in June');
  await ben.goOnline();
  await expectUpToDate(ben.page);
  for (const { page } of [anna, ben])
    await expect.poll(() => written(page)).toMatch(/^Our dear Summer at the lake(!, in June|, in June!)$/);
  expect(await written(anna.page)).toBe(await written(ben.page));

  // Anna's undo reverts only her own typing.
  await anna.page.keyboard.press('Control+z');
  for (const { page } of [ben, anna]) await expect.poll(() => written(page)).toBe('Our dear Summer at the lake!');
  await expectUpToDate(anna.page);

  // One formats by keyboard, the other with a button; both see both formats.
  await anna.page.keyboard.press('Control+Home');
  for (let character = 0; character < 3; character++) await anna.page.keyboard.press('Shift+ArrowRight');
  await anna.page.keyboard.press('Control+b');
  await ben.page
    .getByRole('toolbar', { name: 'Formats of Notes of this budget' })
    .getByRole('button', { name: 'Heading', exact: true })
    .click();
  for (const { page } of [anna, ben]) {
    await expect(notes(page).getByRole('heading', { level: 2 })).toHaveText('Our dear Summer at the lake!');
    await expect(notes(page).locator('strong')).toHaveText('Our');
    await expect(page.getByRole('button', { name: 'Heading', exact: true })).toHaveAttribute('aria-pressed', 'true');
  }
  for (const { page } of [anna, ben]) await expectUpToDate(page);
  const [{ body } = {}] = serverDatabase(server.dataFolder, link).rows(
    "SELECT content ->> '$.body' AS body FROM notes",
  );
  expect(JSON.parse(String(body))).toEqual([
    { attributes: { bold: true }, insert: 'Our' },
    { insert: ' dear Summer at the lake!' },
    { attributes: { header: 2 }, insert: '\n' },
  ]);

  // Ben leaves.
  await ben.page.goto('about:blank');
  await expect(anna.page.getByRole('link', { name: 'Also here: Ben Berg' })).toBeHidden();
});

test('text pasted into a note keeps only allowed formats, and the Tab key leaves the editor', async ({ newPerson }) => {
  const { page } = await newPerson();
  await goTo(page, 'Notes');
  await page.getByRole('button', { name: 'Start writing' }).click();
  await notes(page).click();
  await notes(page).evaluate((element) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData(
      'text/html',
      '<h2>Summer</h2><p>the <b>lake</b> <a href="https://evil.test">and</a> <u>more</u><img src="/x.png" onerror="document.title=1"></p><ul><li>tent</li></ul>',
    );
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await expect(notes(page).getByRole('heading', { level: 2 })).toHaveText('Summer');
  await expect(notes(page).locator('li')).toHaveText('tent');
  await expect(notes(page).locator('strong')).toHaveText('lake');
  await expect(notes(page).locator('a, u, img')).toHaveCount(0);
  expect(await written(page)).toContain('the lake and more');
  await page.keyboard.press('Tab');
  await expect(notes(page)).not.toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await expect(notes(page)).toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('button', { name: 'Italic' })).toBeFocused();
});

async function type({ page }: Person, text: string): Promise<void> {
  await page.keyboard.type(text, { delay: 30 });
}
