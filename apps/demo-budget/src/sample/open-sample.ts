import type { Client } from '@rockpool/client';
import { withDeviceItems } from '../budget/device-items.ts';
import { forgetBudget, knownBudgets, type KnownBudget } from '../budget/known-budgets.ts';
import { newFilledBudget } from '../budget/new-budget.ts';
import { fillSample } from './actions.ts';

/**
 * The sample is a budget of its own, beside one's own: nothing of it is ever mixed up with that. Resolves to it, made
 * and filled where this device has none yet.
 */
export async function openSample(): Promise<KnownBudget> {
  const known = await withDeviceItems((items) => knownBudgets(items).find(({ isSample }) => isSample === true));
  return known ?? (await newFilledBudget({ isSample: true }, fillSample));
}

/**
 * Deletes the sample from this device. Resolves to the budget that was open before; undefined where there is none.
 * Rejects with `storage-busy` while another tab has it open.
 */
export async function leaveSample(client: Client, sample: KnownBudget): Promise<KnownBudget | undefined> {
  await client.leave({ discardUnsent: true });
  return await withDeviceItems((items) => {
    forgetBudget(items, sample);
    return knownBudgets(items).find(({ databaseId }) => databaseId !== sample.databaseId);
  });
}
