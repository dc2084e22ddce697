import { expect, type Locator, type Page } from 'playwright/test';

/** A table may scroll in its own region; the page itself never scrolls sideways. */
export async function expectNoSidewaysScroll(page: Page, name: string): Promise<void> {
  const { contentWidth, viewWidth } = await page.evaluate(() => ({
    contentWidth: document.documentElement.scrollWidth,
    viewWidth: document.documentElement.clientWidth,
  }));
  expect.soft(contentWidth, name).toBeLessThanOrEqual(viewWidth);
}

/** All cells of a table fit inside it, so that no amount is cut off. */
export async function expectCellsInside(table: Locator): Promise<void> {
  const outside = await table.evaluate((element) => {
    const edge = element.getBoundingClientRect().right;
    return [...element.querySelectorAll('th, td')]
      .filter((cell) => cell.getBoundingClientRect().right > edge + 1)
      .map((cell) => cell.textContent);
  });
  expect(outside).toEqual([]);
}

/** No text reaches beyond an element that clips it, unless an ellipsis says so or the user can scroll there. */
export async function expectNothingClipped(page: Page, name: string): Promise<void> {
  const clipped = await page.evaluate(() => {
    const found: string[] = [];
    // Most elements are around many texts.
    const known = new Map<Element, { readonly clips: 'nothing' | 'some' | 'deliberately'; readonly box: DOMRect }>();
    const clippingOf = (element: Element) => {
      const { overflowX, textOverflow } = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      // An element of one pixel holds text for screen readers.
      const isDeliberate = textOverflow === 'ellipsis' || box.width <= 1 || box.height <= 1;
      const isOpen = isDeliberate || overflowX === 'auto' || overflowX === 'scroll';
      const clips = isOpen ? 'deliberately' : overflowX === 'visible' ? 'nothing' : 'some';
      return { clips, box } as const;
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      const { left, right, width } = range.getBoundingClientRect();
      if (width === 0 || text.textContent?.trim() === '') continue;
      for (let around = text.parentElement; around !== null; around = around.parentElement) {
        const { clips, box } = known.get(around) ?? clippingOf(around);
        known.set(around, { clips, box });
        if (clips === 'deliberately') break;
        if (clips === 'nothing') continue;
        if (right > box.right + 1 || left < box.left - 1) found.push(`“${text.textContent}” in .${around.className}`);
      }
    }
    return found;
  });
  expect.soft(clipped, name).toEqual([]);
}
