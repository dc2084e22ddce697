import { createClient, deleteDatabase, type Client } from '@rockpool/client';
import { schema } from '../schema.ts';
import { makeBudget } from './budget.ts';
import { withDeviceItems } from './device-items.ts';
import { rememberBudget, type KnownBudget } from './known-budgets.ts';
import { databaseNameOf } from './open-budget.ts';

/**
 * Creates a separate budget with the content that `fill` writes: all of it or nothing. A separate client writes it, so
 * Ctrl+Z never reverts actions that the user did not take.
 */
export async function newFilledBudget(
  kind: Pick<KnownBudget, 'isSample'>,
  fill: (writer: Client) => Promise<void>,
): Promise<KnownBudget> {
  const budget: KnownBudget = { ...makeBudget(), madeHere: true, ...kind };
  const name = databaseNameOf(budget);
  const client = await createClient({ name, schema });
  try {
    await fill(client);
  } catch (error) {
    await client.close();
    await deleteDatabase(name);
    throw error;
  }
  await client.close();
  await withDeviceItems((items) => rememberBudget(items, budget));
  return budget;
}
