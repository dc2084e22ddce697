import type { Page } from 'playwright/test';

/**
 * Code that notes what every progress bar of a page has shown, put before the code of every script: bars of a small
 * household are gone before a test could look.
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
  /** What the bar is called. */
  readonly label: string;
  /** From 0 to 1; -1 where it does not know. */
  readonly done: number;
}

/** What bars have shown since this was asked last. */
export async function takeProgressShown(page: Page): Promise<ProgressShown[]> {
  return await page.evaluate(() =>
    (globalThis as unknown as { progressShown: ProgressShown[] }).progressShown.splice(0),
  );
}
