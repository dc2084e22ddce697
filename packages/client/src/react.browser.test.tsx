import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { StrictMode, type ReactElement } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { createClient, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName } from './testing/browser-tabs.ts';
import { RockpoolProvider, useClient, useLiveQuery, useSyncStatus } from './react/index.ts';

const note = sqliteTable('note', { id: text().primaryKey(), body: text().notNull() });
const schema = defineSchema({ note });

let client: Client | null = null;
let root: Root | null = null;

async function open(): Promise<Client> {
  client = await createClient({ name: freshName(), schema });
  return client;
}

function draw(element: ReactElement): HTMLElement {
  const container = document.createElement('div');
  document.body.append(container);
  root = createRoot(container);
  root.render(<StrictMode>{element}</StrictMode>);
  return container;
}

afterEach(async () => {
  root?.unmount();
  await client?.close();
  document.body.replaceChildren();
});

function Notes({ prefix }: { readonly prefix: string }): ReactElement {
  const { rows, loading, error } = useLiveQuery<{ id: string; body: string }>(sql`SELECT * FROM note WHERE body LIKE ${`${prefix}%`} ORDER BY body`);
  if (error !== null) return <p>{error.code}</p>;
  return <p>{loading ? 'loading' : rows.map(({ body }) => body).join(' ')}</p>;
}

function AddButton(): ReactElement {
  const mine = useClient();
  return <button onClick={() => void mine.execute(sql`INSERT INTO note VALUES (${mine.newId()}, 'a from the button')`)}>add</button>;
}

function Badge(): ReactElement {
  const { state, role } = useSyncStatus();
  return <i>{`${state} ${role}`}</i>;
}

it('draws rows and draws again when they change, under StrictMode', async () => {
  const opened = await open();
  const page = draw(
    <RockpoolProvider client={opened}>
      <Notes prefix="a" />
      <AddButton />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.querySelector('p')?.textContent).toBe('');
  await opened.execute(sql`INSERT INTO note VALUES ('1', 'a one'), ('2', 'b two')`);
  await expect.poll(() => page.querySelector('p')?.textContent).toBe('a one');
  page.querySelector('button')?.click();
  await expect.poll(() => page.querySelector('p')?.textContent).toBe('a from the button a one');
});

it('runs another query when a value of the statement changes', async () => {
  const opened = await open();
  await opened.execute(sql`INSERT INTO note VALUES ('1', 'a one'), ('2', 'b two')`);
  const page = draw(
    <RockpoolProvider client={opened}>
      <Notes prefix="a" />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.textContent).toBe('a one');
  root?.render(
    <StrictMode>
      <RockpoolProvider client={opened}>
        <Notes prefix="b" />
      </RockpoolProvider>
    </StrictMode>,
  );
  await expect.poll(() => page.textContent).toBe('b two');
});

it('shows the status of sync', async () => {
  const opened = await open();
  const page = draw(
    <RockpoolProvider client={opened}>
      <Badge />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.textContent).toBe('offline leader');
});
