import { createClient, type Client } from '@rockpool/client';
import { makeBudget } from '../budget/budget.ts';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { fetchToken } from '../budget/token.ts';
import { schema } from '../schema.ts';

/** One of the two devices of the walkthrough: a separate client in this page. */
export interface Pane {
  readonly title: string;
  readonly principal: string;
  readonly client: Client;
}

export interface Panes {
  readonly budget: KnownBudget;
  readonly laptop: Pane;
  readonly phone: Pane;
  close(): Promise<void>;
}

export const walkEntryId = 'walk';

/**
 * Opens one new budget twice, as two devices would: two clients with a database each, in memory, synced by the server.
 * The user's own budget is not involved.
 */
export async function openPanes(): Promise<Panes> {
  const budget: KnownBudget = { ...makeBudget(), madeHere: true };
  const [laptop, phone] = await Promise.all([openPane(budget, 'Laptop'), openPane(budget, 'Phone')]);
  await laptop.client.batch([
    {
      sql: "INSERT INTO accounts (id, name, kind, currency, createdAtMs) VALUES ('walk', 'Purse', 'cash', 'EUR', 0)",
      params: [],
    },
    {
      sql: "INSERT INTO entries (id, accountId, date, payee, notes, amountMinor, enteredAtMs) VALUES (?, 'walk', '2026-01-31', 'Baker', 'bread', -350, 0)",
      params: [walkEntryId],
    },
  ]).synced;
  return {
    budget,
    laptop,
    phone,
    close: async () => void (await Promise.all([laptop.client.close(), phone.client.close()])),
  };
}

async function openPane(budget: KnownBudget, title: string): Promise<Pane> {
  const principal = `device-${title.toLowerCase()}`;
  const client = await createClient({
    name: `walk-${budget.databaseId}-${title.toLowerCase()}`,
    schema,
    persistence: 'memory',
    sync: {
      url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/sync`,
      databaseId: budget.databaseId,
      token: () => fetchToken(budget, principal, title),
    },
  });
  return { title, principal, client };
}
