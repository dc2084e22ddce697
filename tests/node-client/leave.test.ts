import { afterEach, describe, expect, it } from 'vitest';
import { createDevice } from '#client/node/index.ts';
import type { Client } from '#client/index.ts';
import { buildSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { useClientsOfServer } from '#kit/clients-of-server.ts';
import { until } from '#kit/until.ts';

const schema = buildSchema([sampleTable('note', [sampleColumn('id', 'text', { notNull: true })])]);
const clients: Client[] = [];

async function open(): Promise<Client> {
  const client = await createDevice().createClient({ name: 'notes', schema });
  clients.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

it('a client leaves its database only after the writes under way, which are unsent then', async () => {
  const client = await open();
  await client.listBranches(); // Loads the code of `leave`, which would take longer than the transaction.
  const begun = Promise.withResolvers<void>();
  const transaction = client.transaction(
    () => {
      begun.resolve();
      return new Promise<void>(() => undefined);
    },
    { timeoutMs: 500 },
  );
  const ended = transaction.catch((error: unknown) => error);
  await begun.promise;
  // A write in the same turn would count as part of the transaction's body.
  await new Promise((resolve) => setTimeout(resolve));
  const write = client.execute("INSERT INTO note VALUES ('a')");
  const error = { code: 'changes-unsent', fields: { pendingCount: 1, rejectedCount: 0 } };
  await expect(client.leave()).rejects.toMatchObject(error);
  await write;
  expect(await ended).toMatchObject({ code: 'transaction-timeout' });
  await client.execute("INSERT INTO note VALUES ('b')");
  expect(await client.query('SELECT id FROM note')).toHaveLength(2);
});

describe('a client with a rejected changeset', () => {
  const world = useClientsOfServer({ schema, validate: () => 'refused' });

  it('leaves its database only after the user has decided about it', async () => {
    const client = await world.open();
    await client.execute("INSERT INTO note VALUES ('a')");
    await until(() => client.status.current.rejectedCount === 1);
    const error = { code: 'changes-unsent', fields: { pendingCount: 0, rejectedCount: 1 } };
    await expect(client.leave()).rejects.toMatchObject(error);
    const [rejected] = await client.rejected.list();
    await client.rejected.drop(rejected?.sequence ?? 0);
    await client.leave();
  });
});
