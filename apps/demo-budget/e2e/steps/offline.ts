import { expect } from 'playwright/test';
import type { Person } from '../harness/test.ts';
import { changeEntry, type EntryInput } from './entries.ts';
import { syncBadge } from './sync.ts';

/**
 * The time that a push spends in transit is an error in its corrected stamps. This time between two edits exceeds that
 * error even on a busy machine. It passes only on the device's clock, as while a device sleeps, and is shorter than the
 * 10 s from which the server's clock would show that the device's clock was set.
 */
export const clearlyLaterMs: number = 9_000;

/** Edits an entry and checks that the write stays unsent, so that a network that was not really cut is detected. */
export async function changeOffline(
  { page }: Person,
  payee: string,
  change: EntryInput,
  waitingCount: number,
): Promise<void> {
  await changeEntry(page, payee, change);
  await expect(syncBadge(page)).toHaveText(new RegExp(`(Offline|Connecting) · ${waitingCount} to sync`));
}
