import type { Page } from 'playwright/test';

/**
 * Returns a script that records every progress bar a page shows. It is prepended to every script, because the bars of a
 * small budget disappear before a test could look.
 */
export const progressWatch = `if (globalThis.document !== undefined && globalThis.progressShown === undefined) {
  globalThis.progressShown = [];
  const note = () => {
    for (const bar of document.querySelectorAll('progress')) globalThis.progressShown.push({ label: bar.labels[0]?.textContent.trim() ?? '', done: bar.position });
  };
  new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['value'] });
}
`;

export interface ProgressShown {
  /** The bar's accessible name. */
  readonly label: string;
  /** From 0 to 1; -1 if indeterminate. */
  readonly done: number;
}

/** The values that bars have shown since the last call. */
export async function takeProgressShown(page: Page): Promise<ProgressShown[]> {
  return await page.evaluate(() =>
    (globalThis as unknown as { progressShown: ProgressShown[] }).progressShown.splice(0),
  );
}
