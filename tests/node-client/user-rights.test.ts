import { expect, it } from 'vitest';
import { createDevice } from '#client/node/index.ts';
import { buildSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { useClientsOfServer } from '#kit/clients-of-server.ts';
import { until } from '#kit/until.ts';

const schema = buildSchema([sampleTable('note', [sampleColumn('id', 'text', { notNull: true })])]);
const world = useClientsOfServer({ schema });

it('the status says whether the server lets the user write, from the first connection on and after a restart', async () => {
  const device = createDevice();
  const client = await world.open({ principal: 'eve', role: 'viewer', device });
  await until(() => client.status.current.state === 'up-to-date');
  expect(client.status.current).toMatchObject({ userMayWrite: false, readOnly: null });
  await client.sync.pause();
  await client.close();

  const later = await world.open({ principal: 'eve', role: 'viewer', device });
  await until(() => later.status.current.state === 'paused');
  expect(later.status.current.userMayWrite).toBe(false);
  await later.sync.resume();
  await until(() => later.status.current.state === 'up-to-date');
  await world.server.members.setRole('budget', 'eve', 'editor');
  await until(() => later.status.current.userMayWrite === true);
  await later.execute("INSERT INTO note VALUES ('a')").synced;
});

it('the status does not say whether the user may write before the first connection', async () => {
  const device = createDevice();
  const client = await device.createClient({ name: 'budget', schema });
  world.closesLater(client);
  await until(() => client.status.current.state === 'offline');
  expect(client.status.current.userMayWrite).toBe(null);
});
