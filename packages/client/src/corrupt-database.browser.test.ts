import type { RockpoolError } from '@rockpool/shared';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { atLevel } from '../../../tests/kit/level.ts';
import type { ClientOptions } from './interface/client-options.ts';
import { createClient, listDatabases, quarantineDatabase, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName } from '../testing/browser-tabs.ts';

const note = sqliteTable('note', { id: text().primaryKey(), body: text() });
const schema = defineSchema({ note });
const PAGE_BYTES = 8192;
/** No server is reachable at this address, so writes stay unsent. */
const UNREACHABLE = { url: 'ws://127.0.0.1:9', databaseId: 'notes', token: (): string => '' };

/** Overwrites part of the file of a closed database. */
async function damage(name: string, at: number, length: number): Promise<void> {
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('rockpool');
  const file = await (await folder.getFileHandle(`${name}.sqlite`)).createWritable({ keepExistingData: true });
  await file.write({ type: 'write', position: at, data: new Uint8Array(length).fill(0xaa) });
  await file.close();
}

/** Creates a database with two unsent writes. Resolves with the offsets of the data that every opening reads. */
async function createNotes(options: ClientOptions): Promise<number> {
  const client = await createClient(options);
  await client.execute(sql`INSERT INTO note VALUES ('a', 'first')`);
  await client.execute(sql`INSERT INTO note VALUES ('b', 'second')`);
  const [row] = await client.query<{ rootpage: number }>(
    "SELECT rootpage FROM sqlite_schema WHERE name = 'rockpool_meta'",
  );
  await client.close();
  return ((row?.rootpage ?? 0) - 1) * PAGE_BYTES;
}

const isKept = async (name: string): Promise<boolean> =>
  (await listDatabases()).some((info) => info.name === name && info.sizeBytes > 0);

for (const persistence of atLevel({ test: ['opfs'], verify: ['opfs', 'opfs-exclusive'] } as const)) {
  it(`opening quarantines a damaged database and starts a new one, with its unsent writes rejected (${persistence})`, async () => {
    const problems: RockpoolError[] = [];
    const options: ClientOptions = {
      name: freshName(),
      schema,
      persistence,
      sync: UNREACHABLE,
      onError: (error) => void problems.push(error),
    };
    await damage(options.name, await createNotes(options), PAGE_BYTES);
    const client = await createClient(options);
    expect(await client.query('SELECT * FROM note')).toEqual([]);
    const keptAs = `${options.name}.corrupt-1`;
    const corrupt = problems.find(({ code }) => code === 'storage-corrupt');
    expect(corrupt?.fields).toEqual({ keptAs, rejected: 2, isComplete: true });
    expect(await isKept(keptAs)).toBe(true);

    const rejected = await client.rejected.list();
    expect(rejected.map(({ reason, changes }) => [reason.code, changes[0]?.key])).toEqual([
      ['storage-corrupt', ['a']],
      ['storage-corrupt', ['b']],
    ]);
    await client.rejected.retry(rejected[1]!.sequence);
    await client.rejected.drop(rejected[0]!.sequence);
    expect(await client.query('SELECT * FROM note')).toEqual([{ id: 'b', body: 'second' }]);
    expect(await client.rejected.list()).toEqual([]);
    await client.close();
  });
}

it('opening quarantines a database without a header, and reports that nothing could be read', async () => {
  const problems: RockpoolError[] = [];
  const options: ClientOptions = {
    name: freshName(),
    schema,
    persistence: 'opfs',
    sync: UNREACHABLE,
    onError: (error) => void problems.push(error),
  };
  await createNotes(options);
  await damage(options.name, 0, 512);
  const client = await createClient(options);
  expect(problems.find(({ code }) => code === 'storage-corrupt')?.fields).toEqual({
    keptAs: `${options.name}.corrupt-1`,
    rejected: 0,
    isComplete: false,
  });
  await client.execute(sql`INSERT INTO note VALUES ('c', 'anew')`);
  await client.close();
});

it('opening leaves a damaged database in place if there is no server, until the app quarantines it', async () => {
  const options: ClientOptions = { name: freshName(), schema, persistence: 'opfs' };
  await damage(options.name, await createNotes(options), PAGE_BYTES);
  for (const attempt of ['once', 'again'])
    await expect(createClient(options), attempt).rejects.toMatchObject({ code: 'storage-corrupt' });
  const keptAs = await quarantineDatabase(options.name);
  expect(await isKept(keptAs)).toBe(true);
  const client = await createClient(options);
  expect(await client.query('SELECT * FROM note')).toEqual([]);
  await client.close();
});
