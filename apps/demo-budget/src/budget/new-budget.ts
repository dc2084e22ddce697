import { createClient, deleteDatabase, type Client } from '@rockpool/client';
import { schema } from '../schema.ts';
import { makeBudget } from './budget.ts';
import { withDeviceItems } from './device-items.ts';
import { rememberBudget, type KnownBudget } from './known-budgets.ts';
import { databaseNameOf } from './open-budget.ts';

/**
 * Makes a budget of its own, beside those that are there, with what `fill` writes into it: whole, or not at all. It is
 * written by a client of its own, whose undo goes with it: nobody takes back by Ctrl Z what they did not do.
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
