import { expect, it, onTestFinished } from 'vitest';
import type { PastMoment, RestoreSelection } from '#client/index.ts';
import { createClient } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';

const note = sqliteTable('note', { id: text().primaryKey() });
const schema = defineSchema({ note }, { history: [note] });

it('past and planRestore reject calls without an argument with request-invalid', async () => {
  const client = await createClient({
    name: 'notes',
    schema,
    sync: { url: 'ws://localhost:1', databaseId: 'notes', token: () => null },
  });
  onTestFinished(() => client.close());
  const none = undefined as unknown as PastMoment & RestoreSelection;
  for (const call of [() => client.past(none), () => client.planRestore(none)])
    await expect(call()).rejects.toMatchObject({ code: 'request-invalid' });
});
