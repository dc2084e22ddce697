import type { Locator, Page } from 'playwright/test';
import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { shareLink } from './steps/navigation.ts';
import { invite, join } from './steps/share.ts';
import { expectUpToDate } from './steps/sync.ts';

function noteOf(page: Page, payee: string): Locator {
  return page.getByRole('textbox', { name: `Note on ${payee}, 3 Jan 2025` });
}

function marked(page: Page): Locator {
  return page.getByRole('button', { name: /^Note on / });
}

test('two people edit the note of one entry at the same time, by keyboard; the row is marked, search finds the note, and a viewer can read it', async ({
  newPerson,
}) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Household', currency: 'EUR', opening: '1000' });
  await addEntry(anna, { payee: 'Dentist', amount: '180', date: '2025-01-03' });
  await addEntry(anna, { payee: 'Kiosk', amount: '2', date: '2025-01-02' });
  await expectUpToDate(anna);
  const { page: ben } = await newPerson({ link: await shareLink(anna) });
  await openAccount(ben, 'Household');
  await openAccount(anna, 'Household');
  await expect(marked(anna)).toHaveCount(0);

  // Keyboard only: move to the row and into its note.
  for (const page of [anna, ben]) {
    await expect(ledgerRow(page, 'Dentist')).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('m');
    await expect(noteOf(page, 'Dentist')).toBeFocused();
  }
  await anna.keyboard.type('nine');
  await expect(noteOf(ben, 'Dentist')).toContainText('nine');
  await ben.keyboard.press('Control+Home');
  await expect(anna.locator('.note-cursor')).toHaveCount(1);
  await Promise.all([anna.keyboard.type(' crowns ', { delay: 30 }), ben.keyboard.type('insured ', { delay: 30 })]);
  for (const page of [anna, ben]) {
    await expect(noteOf(page, 'Dentist')).toContainText('nine crowns');
    await expect(noteOf(page, 'Dentist')).toContainText('insured');
  }
  // Letters that are ledger shortcuts elsewhere are typed as text here.
  await expect(anna.getByRole('form')).toHaveCount(0);
  await anna.keyboard.press('Escape');
  await expect(anna.getByRole('button', { name: /^Edit Dentist/ })).toBeFocused();
  await expect(marked(anna)).toHaveAccessibleName('Note on Dentist, 3 Jan 2025');
  await expect(anna.getByRole('button', { name: 'Add a note on Kiosk, 2 Jan 2025' })).toBeAttached();
  await anna.getByRole('searchbox', { name: 'Search entries' }).fill('insured');
  await expect(anna.getByRole('search')).toContainText('1 entry found, -€180.00');
  await expectUpToDate(anna);

  const { page: carla } = await newPerson({ link: await invite(anna, 'viewer') });
  await join(carla, 'Carla');
  await openAccount(carla, 'Household');
  await expect(carla.getByRole('button', { name: /^Add a note/ })).toHaveCount(0);
  await marked(carla).click();
  await expect(noteOf(carla, 'Dentist')).toContainText('insured');
  await expect(noteOf(carla, 'Dentist')).toHaveAttribute('contenteditable', 'false');
  await ben.keyboard.type('yes');
  await expect(noteOf(carla, 'Dentist')).toContainText('yes');
});
