import { createClient, newId, sql } from '@rockpool/client';
import { schema } from './schema.ts';

const client = await createClient({
  name: 'todos',
  schema,
  sync: { url: 'ws://localhost:4400/sync', databaseId: 'my-list', token: () => fetch('/token') },
});

// Called now, and whenever this tab, another tab or another device changes the list.
client.live<{ title: string }>('SELECT title FROM todo WHERE done = 0 ORDER BY id').subscribe(({ rows }) => {
  document.body.textContent = rows.map(({ title }) => title).join(', ');
});

await client.execute(sql`INSERT INTO todo (id, title) VALUES (${newId()}, ${'buy milk'})`);
