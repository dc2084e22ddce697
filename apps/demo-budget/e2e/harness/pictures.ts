import { test, type Page } from 'playwright/test';
import { isThorough } from './level.ts';

/** Attaches a picture of the page to the test, which a run with `--reporter=html` shows. */
export async function attachPicture(
  page: Page,
  name: string,
  { fullPage = false }: { readonly fullPage?: boolean } = {},
): Promise<void> {
  if (!isThorough) return;
  await test.info().attach(name, { body: await page.screenshot({ fullPage }), contentType: 'image/png' });
}
