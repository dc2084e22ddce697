import { fileURLToPath } from 'node:url';
import { expect, type Page } from 'playwright/test';
import { goTo } from './navigation.ts';

/** The sample statements that ship with the app. */
export const samples = {
  /** 2,000 rows, month first, decimal points, multi-line notes; balance before the first row 5,126.44. */
  harbour: fileURLToPath(new URL('../../public/samples/harbour-checking.csv', import.meta.url)),
  /** Semicolons, decimal commas, Windows-1252, a preamble. */
  meridian: fileURLToPath(new URL('../../public/samples/meridian-giro.csv', import.meta.url)),
} as const;

/** Opens the import page and chooses a file: a path, or a file that the test creates. */
export async function chooseFile(
  page: Page,
  file: string | { readonly name: string; readonly contents: string | Uint8Array },
): Promise<void> {
  await goTo(page, 'Import');
  const chosen =
    typeof file === 'string' ? file : { name: file.name, mimeType: 'text/csv', buffer: Buffer.from(file.contents) };
  await page.getByLabel('Bank statement').setInputFiles(chosen);
}

/** Imports the previewed rows and waits for the end. */
export async function importPreviewed(page: Page, entryCount: number): Promise<void> {
  const shown = entryCount === 1 ? '1 entry' : `${entryCount.toLocaleString('en')} entries`;
  await page.getByRole('button', { name: `Import ${shown}` }).click();
  await expect(page.getByRole('heading', { name: `${shown} imported` })).toBeVisible();
}
