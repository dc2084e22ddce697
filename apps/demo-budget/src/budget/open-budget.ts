import { createClient, type Client, type ClientOptions } from '@rockpool/client';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { personName } from '../people/person-name.ts';
import { schema } from '../schema.ts';
import type { Budget } from './budget.ts';
import { withDeviceItems } from './device-items.ts';
import type { KnownBudget } from './known-budgets.ts';
import { learnAccess } from './role.ts';
import { fetchToken } from './token.ts';

/** What the budget's database is called in this browser. */
export function databaseNameOf({ databaseId }: Budget): string {
  return `budget-${databaseId}`;
}

/** How much of a budget that is not on this device yet has come from the server. */
export interface Arrival {
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

export interface OpenBudgetOptions {
  readonly budget: KnownBudget;
  readonly device: string;
  /** In `memory` it is gone with the tab. */
  readonly persistence: 'durable' | 'memory';
  readonly onArrival: (arrival: Arrival) => void;
}

/** Opens the budget's database in this browser, and syncs it with the server that the page came from. */
export async function openBudget({ budget, device, persistence, onArrival }: OpenBudgetOptions): Promise<Client> {
  const options: ClientOptions = {
    name: databaseNameOf(budget),
    schema,
    persistence,
    sync: {
      url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/sync`,
      databaseId: budget.databaseId,
      token: async () => fetchToken(budget, device, await withDeviceItems(personName), learnAccess),
      // Of a budget that was created here the server has nothing to begin with.
      ...(budget.madeHere ? {} : { firstSync: { onProgress: onArrival } }),
    },
  };
  const client = await createClient(options);
  if (budget.madeHere) await addStarterCategoriesOnce(client, options);
  return client;
}

async function addStarterCategoriesOnce(client: Client, options: ClientOptions): Promise<void> {
  const [known] = await client.query<{ present: 0 | 1 }>('SELECT EXISTS (SELECT 1 FROM categories) AS present');
  if (known?.present === 1) return;
  if (client.status.current.persistence === 'memory') return await addStarterCategories(client);
  // By a client of its own, with the same options, as for every tab: what nobody did is in nobody's undo.
  const beginner = await createClient(options);
  try {
    await addStarterCategories(beginner);
  } finally {
    await beginner.close();
  }
}
