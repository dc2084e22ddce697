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
}

export const walkEntryId = 'walk';

/**
 * Opens one new budget twice, as two devices would: two clients with a database each, in memory, synced by the server.
 * The user's own budget is not involved. Both clients close when `signal` is aborted, even while they are opening, and
 * when one of them cannot open.
 */
export async function openPanes(signal: AbortSignal): Promise<Panes> {
  const budget: KnownBudget = { ...makeBudget(), madeHere: true };
  const opening = [openPane(budget, 'Laptop'), openPane(budget, 'Phone')] as const;
  const close = async (): Promise<void> => {
    for (const opened of await Promise.allSettled(opening))
      if (opened.status === 'fulfilled') await opened.value.client.close();
  };
  signal.addEventListener('abort', () => void close());
  try {
    const [laptop, phone] = await Promise.all(opening);
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
    return { budget, laptop, phone };
  } catch (error) {
    await close();
    throw error;
  }
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
