import { createClient, type Client } from '@rockpool/client';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { personName } from '../people/person-name.ts';
import { schema } from '../schema.ts';
import { withDeviceItems } from './device-items.ts';
import type { KnownBudget } from './known-budgets.ts';
import { learnRole } from './role.ts';
import { fetchToken } from './token.ts';

/** Opens the budget's database in this browser, and syncs it with the server that the page came from. In `memory` it is gone with the tab. */
export async function openBudget(budget: KnownBudget, device: string, persistence: 'durable' | 'memory'): Promise<Client> {
  const client = await createClient({
    name: `budget-${budget.databaseId}`,
    schema,
    persistence,
    sync: {
      url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/sync`,
      databaseId: budget.databaseId,
      token: async () => fetchToken(budget, device, await withDeviceItems(personName), learnRole),
    },
  });
  if (budget.madeHere) await addStarterCategoriesOnce(client);
  return client;
}

async function addStarterCategoriesOnce(client: Client): Promise<void> {
  const [known] = await client.query<{ present: 0 | 1 }>('SELECT EXISTS (SELECT 1 FROM categories) AS present');
  if (known?.present !== 1) await addStarterCategories(client);
}
