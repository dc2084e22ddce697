import { expect, test } from './harness/test.ts';
import { openAccount } from './steps/accounts.ts';
import { expectCellsInside, expectNoSidewaysScroll } from './steps/layout.ts';
import { goTo } from './steps/navigation.ts';

test('on tablets, and beside the page menu, a ledger has room for payees, and envelope totals align with their amounts', async ({
  newPerson,
}) => {
  const { page } = await newPerson({ viewport: { width: 768, height: 900 } });
  await page.getByRole('button', { name: 'Explore a sample budget' }).click();
  // The sample opens in a new page, after it has been filled.
  await expect(page.getByText('This is a sample')).toBeVisible();
  await openAccount(page, 'Household');
  await expect(page.locator('.entry-payee').first()).toBeVisible();
  for (const width of [768, 970, 1150, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect((await page.locator('.entry-payee').first().boundingBox())?.width, `payees at ${width} px`).toBeGreaterThan(
      140,
    );
    await expectNoSidewaysScroll(page, `ledger at ${width} px`);
    await expectCellsInside(page.getByRole('table', { name: /^Entries of / }));
  }
  await goTo(page, 'Budget');
  for (const amounts of ['tfoot .amount', 'tbody .amount-input', 'tbody button.available'])
    await expect(page.locator(`.envelopes ${amounts}`).first()).toBeVisible();
  // Measured at one moment, because the table is laid out again while more of its amounts arrive.
  const edges = await page.locator('.envelopes').evaluate((table) => {
    const rightOf = (selector: string): number => {
      const element = table.querySelector(selector);
      if (element === null) throw new Error(`nothing matches ${selector}`);
      const style = getComputedStyle(element);
      return Math.round(
        element.getBoundingClientRect().right -
          Number.parseFloat(style.paddingRight) -
          Number.parseFloat(style.borderRightWidth),
      );
    };
    return [
      ['tfoot td:nth-child(2) .amount', 'tbody .amount-input'],
      ['tfoot td:nth-child(3) .amount', 'tbody td:nth-child(3) .amount'],
      ['tfoot td:nth-child(4) .amount', 'tbody button.available'],
    ].map((selectors) => selectors.map(rightOf));
  });
  for (const [total, amount] of edges) expect(total).toBe(amount);
});
