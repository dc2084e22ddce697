import { expect, it } from 'vitest';
import { createDevice } from '#client/node/index.ts';
import { buildSchema, DEFAULT_MERGE_RULES, type Schema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { shows, useClientsOfServer } from '#kit/clients-of-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { until } from '#kit/until.ts';

const schemaWith = (groups: readonly (readonly string[])[]): Schema =>
  buildSchema([
    sampleTable(
      'price',
      [
        sampleColumn('id', 'text', { notNull: true }),
        sampleColumn('amount', 'integer'),
        sampleColumn('currency', 'text'),
      ],
      { merge: { ...DEFAULT_MERGE_RULES, groups } },
    ),
  ]);
const plain = schemaWith([]);
const grouped = schemaWith([['amount', 'currency']]);
const world = useClientsOfServer({ schema: plain });

it('an unsent update of a column that became part of a group is rejected, and its retry has the whole group', async () => {
  const dataDir = temporaryFolder();
  await world.stop();
  await world.start({ dataDir });
  const device = createDevice();
  const before = await world.open({ device });
  await before.execute("INSERT INTO price VALUES ('p', 1, 'EUR')").synced;
  await before.sync.pause();
  await before.execute('UPDATE price SET amount = 2');
  await world.stop();

  await world.start({ dataDir, schema: grouped });
  const after = await world.open({ device, schema: grouped });
  await after.sync.resume();
  await until(() => after.status.current.rejectedCount === 1);
  const [rejected] = await after.rejected.list();
  expect(rejected).toMatchObject({ decided: true, reason: { code: 'changeset-invalid' } });
  await after.rejected.retry(rejected?.sequence ?? 0);
  await shows(await world.open({ principal: 'ben', schema: grouped }), 'SELECT amount FROM price', 2);
  expect(after.status.current.rejectedCount).toBe(0);
});
