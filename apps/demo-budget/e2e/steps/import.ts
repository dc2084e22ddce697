import { fileURLToPath } from 'node:url';
import { expect, type Page } from 'playwright/test';
import { goTo } from './navigation.ts';

/** The made-up statements that come with the app. */
export const samples = {
  /** 2,000 rows, month first, decimal points, notes over several lines; balance before the first row 5,126.44. */
  harbour: fileURLToPath(new URL('../../public/samples/harbour-checking.csv', import.meta.url)),
  /** Semicolons, decimal commas, Windows-1252, a preamble. */
  meridian: fileURLToPath(new URL('../../public/samples/meridian-giro.csv', import.meta.url)),
} as const;

/** Goes to the import page and chooses a file there: a path, or a file made up by the test. */
export async function chooseFile(
  page: Page,
  file: string | { readonly name: string; readonly contents: string | Uint8Array },
): Promise<void> {
  await goTo(page, 'Import');
  const chosen =
    typeof file === 'string' ? file : { name: file.name, mimeType: 'text/csv', buffer: Buffer.from(file.contents) };
  await page.getByLabel('CSV, OFX or QFX file').setInputFiles(chosen);
}

/** Imports what is previewed, to the end. */
export async function importPreviewed(page: Page, entryCount: number): Promise<void> {
  const shown = entryCount === 1 ? '1 entry' : `${entryCount.toLocaleString('en')} entries`;
  await page.getByRole('button', { name: `Import ${shown}` }).click();
  await expect(page.getByRole('heading', { name: `${shown} imported` })).toBeVisible({ timeout: 30_000 });
}
