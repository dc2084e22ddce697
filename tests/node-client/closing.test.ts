import { expect, it } from 'vitest';
import { createClient, type Transport } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';

const note = sqliteTable('note', { id: text().primaryKey() });
const schema = defineSchema({ note }, { history: [note] });

it('a client that closes ends its requests to a server that does not answer, which would keep a process alive', async () => {
  const signals: AbortSignal[] = [];
  const transport: Transport = {
    connect: () => ({ send: () => undefined, bufferedBytes: 0, close: () => undefined }),
    request: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signals.push(signal as AbortSignal);
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  };
  const client = await createClient({
    name: 'notes',
    schema,
    sync: { url: 'ws://silent', databaseId: 'notes', token: () => 'token', transport },
  });
  const history = await client.history('note', 'a');
  const asked = [history.page(), client.past({ version: 1 })].map((request) =>
    request.then(
      () => null,
      (error: unknown) => error,
    ),
  );
  await expect.poll(() => signals).toHaveLength(2);
  await client.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(await Promise.all(asked)).toMatchObject([{ code: 'client-closed' }, { code: 'client-closed' }]);
});
