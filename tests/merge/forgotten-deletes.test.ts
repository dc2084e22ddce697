import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildSchema } from '#shared/index.ts';
import { testTable } from '#client/testing/worker/table-schema.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { DirectDevice } from '#kit/direct-device.ts';

const page = testTable(
  'page',
  { id: 'text not null', title: 'text', hits: 'integer not null default 0' },
  { merge: { deleteRule: 'update-wins', counters: ['hits'], groups: [], documents: [] } },
);
const note = testTable(
  'note',
  { id: 'text not null', page_id: 'text', body: 'text' },
  {
    foreignKeys: [
      {
        columns: ['page_id'],
        foreignTable: 'page',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
  },
);
const draft = testTable('draft', { id: 'integer', text: 'text' }, { synced: false });
const schema = buildSchema([page, note, draft]);
const DAY_MS = 24 * 3600 * 1000;

let nowMs: number;
let live: LiveDatabase;
let ann: DirectDevice;
let ben: DirectDevice;

beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1);
  live = new LiveDatabase(openDatabaseFile(':memory:', schema), {
    onFailure: (error) => {
      throw error;
    },
  });
  [ann, ben] = [1, 2].map((number) => new DirectDevice(schema, () => nowMs, number)) as [DirectDevice, DirectDevice];
});
afterEach(() => {
  for (const device of [ann, ben]) device.close();
  void live.close();
});

async function sync(...devices: readonly DirectDevice[]): Promise<void> {
  nowMs += 1000;
  for (let round = 0; round < 3; round++) for (const device of devices) await device.settle(live);
}

it('a device that returns after a long time resyncs in full, and keeps its site, local tables and pending writes [MR-33]', async () => {
  ann.write("INSERT INTO page (id, title, hits) VALUES ('gone', 'gone', 1), ('kept', 'kept', 10)");
  await sync(ann, ben);
  const { site } = ben;
  ben.cut();
  ben.write("UPDATE page SET title = 'late' WHERE id = 'gone'");
  ben.write("UPDATE page SET hits = hits + 5 WHERE id = 'kept'");
  ben.write("INSERT INTO note (id, page_id, body) VALUES ('orphan', 'gone', 'late')");
  ben.write("INSERT INTO note (id, page_id, body) VALUES ('child', 'kept', 'late')");
  ben.write("INSERT INTO draft (text) VALUES ('mine alone')");
  ann.write("DELETE FROM page WHERE id = 'gone'");
  await sync(ann);
  nowMs += 31 * DAY_MS;
  ann.write("UPDATE page SET hits = hits + 1 WHERE id = 'kept'");
  await sync(ann);

  ben.connect(live);
  expect(ben.inbox).toMatchObject([
    { type: 'welcome', fullResync: true },
    { type: 'delivery', whole: true },
  ]);
  while (ben.inbox.length > 0) ben.takeNext();
  // Before anything is pushed, the rows are the server's with the pending writes on top.
  expect(ben.rows('SELECT id, title, hits FROM page')).toEqual([['kept', 'kept', 16]]);
  expect(ben.rows('SELECT text FROM draft')).toEqual([['mine alone']]);
  expect(ben.sync.counts().pendingCount).toBe(4);
  await sync(ben, ann);
  for (const device of [ann, ben]) {
    expect(device.rows('SELECT id, title, hits FROM page')).toEqual([['kept', 'kept', 16]]);
    expect(device.rows('SELECT id FROM note')).toEqual([['child']]);
    expect(device.rows('SELECT table_name, column_name, lost_value, rule, won_by FROM rockpool_conflict')).toEqual([
      ['page', 'title', 'late', 'delete-wins', ''],
    ]);
  }
  expect(ben.site).toBe(site);
  expect(ben.database.listRejected()).toMatchObject([
    { reason: { code: 'constraint-foreign-key' }, changes: [{ table: 'note', key: ['orphan'] }] },
  ]);
  // The next time, it receives only changes.
  ben.cut();
  ben.connect(live);
  expect(ben.inbox).toMatchObject([
    { type: 'welcome', fullResync: false },
    { type: 'delivery', whole: false },
  ]);
});
