import { expect, test } from './harness/test.ts';
import { rejectAnEntry, rejectedBadge, rejectedCard } from './steps/rejected.ts';
import { openSyncPage } from './steps/sync.ts';

test('a rejected change is discarded only after the user confirms it', async ({ newPerson }) => {
  const { ben } = await rejectAnEntry(newPerson);
  await openSyncPage(ben.page);
  const card = rejectedCard(ben.page);
  await card.getByRole('button', { name: 'Discard …' }).click();
  await card.getByRole('button', { name: 'Keep it' }).click();
  await ben.page.reload();
  await expect(rejectedBadge(ben.page)).toHaveText('1 rejected');
  await openSyncPage(ben.page);
  await card.getByRole('button', { name: 'Discard …' }).click();
  await card.getByRole('button', { name: 'Discard', exact: true }).click();
  await expect(card).toHaveCount(0);
  await expect(rejectedBadge(ben.page)).toHaveCount(0);
});
