import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import {
  buildSchema,
  columnIdOf,
  decodeHistoryPage,
  decodeRowAtVersion,
  encodeKey,
  type HistoryPage,
  type RowAtVersion,
} from '@rockpool/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { column, TEST_TABLES } from '../../testing/test-schema.ts';

const KIND = column('kind', 'text', { notNull: true, defaultSql: "'cash'" });
const BEFORE = buildSchema(TEST_TABLES.map((table) => ({ ...table, history: { retainedDays: null } })));
const AFTER = buildSchema(
  BEFORE.tables.map((table) => (table.name === 'accounts' ? { ...table, columns: [...table.columns, KIND] } : table)),
);

let schema = BEFORE;
// Runs before the server starts, because the start creates the tables in PostgreSQL.
beforeEach(() => {
  schema = BEFORE;
});
const tested = serverUnderTest({
  get schema() {
    return schema;
  },
});

async function get(path: string): Promise<Uint8Array> {
  const response = await tested.server.ask('GET', `/databases/household/${path}`, {
    token: await tested.server.token('viewer'),
  });
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

const row = (id: string): string => `table=accounts&key=${Buffer.from(encodeKey([id])).toString('base64url')}`;
const page = async (id: string, format: number): Promise<HistoryPage> =>
  decodeHistoryPage(await get(`history?${row(id)}&format=${format}`));
const rowAt = async (id: string, version: number): Promise<RowAtVersion> =>
  decodeRowAtVersion(await get(`history/row?${row(id)}&version=${version}`));

async function pastRows(version: number, sql: string): Promise<unknown[]> {
  const path = join(temporaryFolder(), 'past.sqlite');
  writeFileSync(path, gunzipSync(await get(`past?watermark=${version}`)));
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    return file.prepare(sql).all();
  } finally {
    file.close();
  }
}

/** Two versions of x, and y, which is deleted; then the migration, and two more changesets. */
async function migratedHistory(): Promise<void> {
  const before = await tested.server.open();
  await before.commit([insert('accounts', 'x', { name: 'Cash' }), insert('accounts', 'y', { name: 'Bank' })]);
  await before.commit([update('accounts', 'x', { name: 'Purse' })]);
  await before.commit([remove('accounts', 'y')]);
  schema = AFTER;
  await tested.restart();
  const after = await tested.server.open();
  await after.commit([update('accounts', 'x', { kind: 'card' })]);
  await after.commit([insert('accounts', 'z', { name: 'Card', kind: 'card' })]);
}

describe('a column that a migration added', () => {
  it('is in the versions after the migration, and not in those before', async () => {
    await migratedHistory();
    const { versions, laterColumns } = await page('x', 2);
    expect(laterColumns).toEqual([{ columnId: KIND.id, until: 3 }]);
    expect(versions.map(({ watermark, changes }) => [watermark, ...changes.map(({ columnId }) => columnId)])).toEqual([
      [4, KIND.id],
      [2, columnIdOf('name')],
      [1, columnIdOf('name'), columnIdOf('rank')],
    ]);
    expect(versions[0]?.changes[0]?.values).toEqual({ before: 'cash', after: 'card' });
    expect([(await rowAt('x', 2))?.has(KIND.id), (await rowAt('x', 4))?.get(KIND.id)]).toEqual([false, 'card']);
    expect((await page('z', 2)).versions.map(({ changes }) => changes.length)).toEqual([3]);
  });

  it('is unknown to clients that ask for the first format', async () => {
    await migratedHistory();
    expect((await page('x', 1)).laterColumns).toEqual([]);
  });

  it('is named in past states, where every row has its default, even rows that were deleted before', async () => {
    await migratedHistory();
    const all = 'SELECT id, kind FROM accounts ORDER BY id';
    const later = 'SELECT * FROM rockpool_past_later_column';
    expect(await pastRows(2, all)).toEqual([
      { id: 'x', kind: 'cash' },
      { id: 'y', kind: 'cash' },
    ]);
    expect(await pastRows(2, later)).toEqual([{ table_name: 'accounts', column_name: 'kind' }]);
    expect(await pastRows(4, all)).toEqual([{ id: 'x', kind: 'card' }]);
    expect(await pastRows(4, later)).toEqual([]);
  });

  it("is missing in every version up to the log's end, if nothing was written after the migration", async () => {
    const before = await tested.server.open();
    await before.commit([insert('accounts', 'x', { name: 'Cash' })]);
    schema = AFTER;
    await tested.restart();
    await tested.server.open();
    expect((await page('x', 2)).laterColumns).toEqual([{ columnId: KIND.id, until: 1 }]);
    expect((await rowAt('x', 1))?.has(KIND.id)).toBe(false);
  });
});
