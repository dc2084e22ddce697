import type { Page } from 'playwright/test';

/**
 * A script that records each text that a page shows because something takes long: such a text appears by an animation
 * after a delay, and may disappear before a test could look. It is prepended to every script.
 */
export const slowTextWatch = `if (globalThis.document !== undefined && globalThis.slowTextsShown === undefined) {
  globalThis.slowTextsShown = [];
  document.addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName === 'appear') globalThis.slowTextsShown.push(target.textContent);
  });
}
`;

/** The texts that have appeared since the page was loaded. */
export async function slowTextsShown(page: Page): Promise<string[]> {
  return await page.evaluate(() => (globalThis as unknown as { slowTextsShown: string[] }).slowTextsShown);
}
