import { createClient, type Client, type ClientOptions } from '@rockpool/client';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { personName } from '../people/person-name.ts';
import { schema } from '../schema.ts';
import { countWrites } from '../shell/own-writes.ts';
import { endReconnect } from '../sync/reconnect.ts';
import type { Budget } from './budget.ts';
import { withDeviceItems } from './device-items.ts';
import type { KnownBudget } from './known-budgets.ts';
import { learnAccess } from './role.ts';
import { fetchToken } from './token.ts';

/** Name of the budget's database in this browser. */
export function databaseNameOf({ databaseId }: Budget): string {
  return `budget-${databaseId}`;
}

/** Progress of downloading a budget that is not on this device yet. */
export interface Arrival {
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

export interface OpenBudgetOptions {
  readonly budget: KnownBudget;
  readonly device: string;
  /** With `memory`, the data is lost when the tab closes. */
  readonly persistence: 'durable' | 'memory';
  readonly onArrival: (arrival: Arrival) => void;
}

/** Opens the budget's database in this browser and syncs it with the server that served the page. */
export async function openBudget({ budget, device, persistence, onArrival }: OpenBudgetOptions): Promise<Client> {
  const options: ClientOptions = {
    name: databaseNameOf(budget),
    schema,
    persistence,
    sync: {
      url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/sync`,
      databaseId: budget.databaseId,
      token: async () => fetchToken(budget, device, await withDeviceItems(personName), learnAccess),
      // The server has no data for a budget that was created here, so nothing needs to be downloaded.
      ...(budget.madeHere ? {} : { firstSync: { onProgress: onArrival } }),
    },
  };
  const client = countWrites(await createClient(options));
  endReconnect(client, budget.databaseId).catch(reportError);
  if (budget.madeHere) await addStarterCategoriesOnce(client, options);
  return client;
}

async function addStarterCategoriesOnce(client: Client, options: ClientOptions): Promise<void> {
  const [known] = await client.query<{ present: 0 | 1 }>('SELECT EXISTS (SELECT 1 FROM categories) AS present');
  if (known?.present === 1) return;
  if (client.status.current.persistence === 'memory') return await addStarterCategories(client);
  // A separate client writes the starting content, with the same options as in every tab, so that the content is in no
  // undo history.
  const beginner = await createClient(options);
  try {
    await addStarterCategories(beginner);
  } finally {
    await beginner.close();
  }
}
