import type { Client } from '@rockpool/client';
import { withDeviceItems } from '../budget/device-items.ts';
import { forgetBudget, knownBudgets, type KnownBudget } from '../budget/known-budgets.ts';
import { newFilledBudget } from '../budget/new-budget.ts';
import { fillSample } from './actions.ts';

/**
 * Opens the sample, a budget separate from the user's own. Resolves to the sample, after creating and filling it if
 * this device has none yet.
 */
export async function openSample(): Promise<KnownBudget> {
  const known = await withDeviceItems((items) => knownBudgets(items).find(({ isSample }) => isSample === true));
  return known ?? (await newFilledBudget({ isSample: true }, fillSample));
}

/**
 * Deletes the sample from this device. Resolves to the budget that was open before, or undefined if there is none.
 * Rejects with `storage-busy` while another tab has the sample open.
 */
export async function leaveSample(client: Client, sample: KnownBudget): Promise<KnownBudget | undefined> {
  await client.leave({ discardUnsent: true });
  return await withDeviceItems((items) => {
    forgetBudget(items, sample);
    return knownBudgets(items).find(({ databaseId }) => databaseId !== sample.databaseId);
  });
}
