import { expect, it } from 'vitest';
import { createClient } from '#client/node/index.ts';
import { buildSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { useClientsOfServer } from '#kit/clients-of-server.ts';
import { until } from '#kit/until.ts';

const schema = buildSchema([sampleTable('note', [sampleColumn('id', 'text', { notNull: true })])]);
const world = useClientsOfServer({ schema });

it('the wait until a client is up to date ends when its changes are decided and those of others are there', async () => {
  const writer = await world.open({});
  await writer.execute("INSERT INTO note VALUES ('theirs')").synced;
  const client = await world.open({});
  await client.sync.upToDate();
  expect(await client.query('SELECT id FROM note')).toEqual([{ id: 'theirs' }]);
  await client.sync.pause();
  await client.execute("INSERT INTO note VALUES ('mine')");
  await until(() => client.status.current.state === 'paused');
  let isOver = false;
  const waiting = client.sync.upToDate().then(() => (isOver = true));
  await expect(client.sync.upToDate({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  const aborter = new AbortController();
  const aborted = client.sync.upToDate({ signal: aborter.signal }).catch((reason: unknown) => reason);
  await client.query('SELECT 1');
  aborter.abort('enough');
  expect(await aborted).toBe('enough');
  expect(isOver).toBe(false);
  await client.sync.resume();
  await waiting;
  expect(client.status.current.pendingCount).toBe(0);
});

it('the wait until a client is up to date rejects if the client closes or has no server', async () => {
  const client = await world.open({});
  await client.sync.pause();
  await until(() => client.status.current.state === 'paused');
  const waiting = client.sync.upToDate().catch((error: unknown) => error);
  await client.query('SELECT 1');
  await client.close();
  expect(await waiting).toMatchObject({ code: 'client-closed' });
  await expect(client.sync.upToDate()).rejects.toMatchObject({ code: 'client-closed' });
  const local = await createClient({ name: 'local', schema });
  world.closesLater(local);
  await expect(local.sync.upToDate()).rejects.toMatchObject({ code: 'config-invalid' });
});
