import { buildSchema, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES, RockpoolError } from '@rockpool/shared';
import { SimulatedDisk, SimulatedExtents } from '@rockpool/vfs-opfs/testing';
import { expect, it, vi } from 'vitest';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { testRuntime, testSchema } from '../../../testing/worker/test-database.ts';
import { loadChangelogCode } from '../changelog/load-changelog-code.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { loadDocumentSupport } from '../documents/load-document-support.ts';
import { ReadInterrupted } from '../leader/opened-database.ts';
import { createLocalOpener, type OpenLocal } from './open-local.ts';

vi.mock('../changelog/load-changelog-code.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../changelog/load-changelog-code.ts')>();
  return { ...original, loadChangelogCode: vi.fn(original.loadChangelogCode) };
});
vi.mock('../documents/load-document-support.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../documents/load-document-support.ts')>();
  return { ...original, loadDocumentSupport: vi.fn(original.loadDocumentSupport) };
});

const PAGE_BYTES = 8192;

function opener(
  disk: SimulatedDisk,
  reported: RockpoolError[],
  principal: string | null = null,
  databaseId: string | null = null,
  schema = testSchema,
): OpenLocal {
  return createLocalOpener({
    name: 'test',
    schema,
    migrations: null,
    databaseId,
    principal,
    durability: 'relaxed',
    medium: disk.medium(),
    runtime: Promise.resolve(testRuntime),
    onQuarantined: (error) => void reported.push(error),
  });
}

/** A disk with a database that has an unsent write, and with damage that every opening detects. */
async function damagedDisk(): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  const opened = await opener(disk, [])('writer', () => undefined);
  opened.database.write({
    id: 'a',
    statements: [{ sql: "INSERT INTO account (id, name) VALUES ('a', 'Ada')", params: [] }],
  });
  const page = opened.database.connection.value(
    "SELECT rootpage FROM sqlite_schema WHERE name = 'rockpool_meta'",
  ) as number;
  await opened.close({ handsOver: false });
  await damage(disk, page);
  return disk;
}

async function damage(disk: SimulatedDisk, page: number): Promise<void> {
  const file = await disk.medium().open('test.sqlite', false);
  file?.write(new Uint8Array(PAGE_BYTES).fill(0xaa), (page - 1) * PAGE_BYTES);
  file?.close();
}

it('a quarantined database is reported with the number of its rejected changesets even if storage runs out afterwards, and nothing stays open', async () => {
  const rejectedCounts = new Set<number>();
  for (let roomForWrites = 0; !rejectedCounts.has(1); roomForWrites++) {
    const disk = await damagedDisk();
    const reported: RockpoolError[] = [];
    let writes = 0;
    disk.fault = ({ kind }) => (kind === 'write' && ++writes > roomForWrites ? 'quota' : undefined);
    const opened = await opener(disk, reported)('writer', () => undefined).catch(() => null);
    disk.fault = undefined;
    await opened?.close({ handsOver: false });
    const isQuarantined = (await disk.medium().list()).includes('test.corrupt-1.sqlite');
    expect(reported).toHaveLength(isQuarantined ? 1 : 0);
    if (!isQuarantined) continue;
    const again = await opener(disk, reported)('writer', () => undefined);
    const rejected = again.database.listRejected().length;
    expect(reported.map(({ fields }) => fields)).toEqual([
      { keptAs: 'test.corrupt-1', rejected, isComplete: rejected === 1 },
    ]);
    await again.close({ handsOver: false });
    rejectedCounts.add(rejected);
  }
  expect([...rejectedCounts]).toEqual([0, 1]);
});

/** The page with the last rows of a table. */
async function lastPageOf(disk: SimulatedDisk, rootPage: number): Promise<number> {
  const bytes = new Uint8Array(PAGE_BYTES);
  const file = await disk.medium().open('test.sqlite', false);
  file?.read(bytes, (rootPage - 1) * PAGE_BYTES);
  file?.close();
  const INTERIOR = 5;
  return bytes[0] === INTERIOR ? new DataView(bytes.buffer).getUint32(8) : rootPage;
}

it.each(['rockpool_changelog', 'rockpool_decided'])(
  'a database that is damaged in %s does not pass to a different user while the first may have unsent changes',
  async (table) => {
    const disk = new SimulatedDisk();
    const reported: RockpoolError[] = [];
    const ada = await opener(disk, reported, 'ada')('writer', () => undefined);
    const name = 'Ada'.repeat(100);
    for (let i = 0; i < 100; i++)
      ada.database.write({
        id: `${i}`,
        statements: [{ sql: 'INSERT INTO account (id, name) VALUES (?, ?)', params: [`${i}`, `${name}${i}`] }],
      });
    const rootPage = ada.database.connection.value(
      'SELECT rootpage FROM sqlite_schema WHERE name = ?',
      table,
    ) as number;
    await ada.close({ handsOver: false });
    await damage(disk, await lastPageOf(disk, rootPage));
    const ben = opener(
      disk,
      reported,
      'ben',
    )('writer', () => undefined).then(({ database }) => database.listRejected().length);
    await expect(ben).rejects.toMatchObject({ code: 'other-principal' });
    expect(reported).toEqual([]);
    expect(await disk.medium().list()).not.toContain('test.corrupt-1.sqlite');
  },
);

it('a damaged database is not quarantined if it belongs to a different server database; otherwise its replacement keeps its binding', async () => {
  const disk = new SimulatedDisk();
  const opened = await opener(disk, [], null, 'team')('writer', () => undefined);
  opened.database.write({
    id: 'a',
    statements: [{ sql: "INSERT INTO account (id, name) VALUES ('a', 'Ada')", params: [] }],
  });
  opened.database.meta.set('database_identity', new Uint8Array(16).fill(7));
  const page = opened.database.connection.value(
    "SELECT rootpage FROM sqlite_schema WHERE name = 'rockpool_changelog'",
  ) as number;
  await opened.close({ handsOver: false });
  await damage(disk, page);
  const reported: RockpoolError[] = [];
  await expect(opener(disk, reported, null, 'team2')('writer', () => undefined)).rejects.toMatchObject({
    code: 'database-mismatch',
    fields: { belongsTo: 'team', asked: 'team2' },
  });
  expect([reported, (await disk.medium().list()).includes('test.corrupt-1.sqlite')]).toEqual([[], false]);
  const again = await opener(disk, reported, null, 'team')('writer', () => undefined);
  expect(reported).toMatchObject([{ code: 'storage-corrupt', fields: { keptAs: 'test.corrupt-1' } }]);
  expect([again.database.meta.databaseId, again.database.meta.databaseIdentity]).toEqual([
    'team',
    new Uint8Array(16).fill(7),
  ]);
  await again.close({ handsOver: false });
});

/** A writer on IndexedDB. `refuse` decides whether IndexedDB undoes the following commits. */
async function openOnIndexedDb() {
  const extents = new SimulatedExtents({ persistence: 'indexeddb' });
  const open = createLocalOpener({
    name: 'test',
    schema: testSchema,
    migrations: null,
    databaseId: null,
    principal: null,
    durability: 'relaxed',
    medium: extents.medium(),
    runtime: Promise.resolve(testRuntime),
  });
  const opened = await open('writer', () => undefined);
  return {
    ...opened,
    refuse: (isRefused: boolean) => {
      extents.outcome = () => (isRefused ? 'aborts' : 'completes');
    },
    write: (id: string) =>
      void opened.database.write({
        id,
        statements: [{ sql: 'INSERT INTO account (id, name) VALUES (?, ?)', params: [id, id] }],
      }),
  };
}

it('a database numbers writes without a gap after IndexedDB has undone commits because storage is full', async () => {
  const { database, committed, close, refuse, write } = await openOnIndexedDb();
  write('a');
  await committed?.();
  refuse(true);
  write('b');
  // Sync reads this after each write, and the connection caches the result.
  expect(database.outbox.pendingCount()).toBe(2);
  await expect(committed?.()).rejects.toMatchObject({ code: 'storage-full' });
  refuse(false);
  write('c');
  await committed?.();
  expect([...database.changelog.readAfter(0)].map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(database.outbox.pendingCount()).toBe(2);
  await close({ handsOver: false });
});

it('a database forgets the cursor, acknowledged writes and packs of a delivery that IndexedDB has undone', async () => {
  const { database, committed, close, refuse, write } = await openOnIndexedDb();
  const { meta, outbox, connection } = database;
  const deliver = (cursor: number): void => {
    connection.run('BEGIN IMMEDIATE');
    meta.setCursor(cursor, new Uint8Array(16));
    outbox.markAcknowledged(130, 1000);
    outbox.pack();
    connection.run('COMMIT');
  };
  const remembered = (): unknown => [meta.cursor, outbox.lastAckedSequence(), database.changelog.packs.isEmpty];
  for (let i = 1; i <= 130; i++) write(`r${i}`);
  await committed?.();
  expect(remembered()).toEqual([0, 0, true]);
  refuse(true);
  deliver(7);
  expect(remembered()).toEqual([7, 130, false]);
  await expect(committed?.()).rejects.toMatchObject({ code: 'storage-full' });
  expect(remembered()).toEqual([0, 0, true]);
  refuse(false);
  deliver(8);
  await committed?.();
  expect(remembered()).toEqual([8, 130, false]);
  await close({ handsOver: false });
});

it('closing fails with a RockpoolError if IndexedDB has undone the last commit', async () => {
  const { close, refuse, write } = await openOnIndexedDb();
  refuse(true);
  write('a');
  await expect(close({ handsOver: false })).rejects.toMatchObject({ name: 'RockpoolError', code: 'storage-full' });
});

/** Writes rows and packs their changesets, so that every connection needs the code of packs. */
function writePacked(database: OpenDatabase): void {
  for (let i = 0; i < 130; i++)
    database.write({
      id: `${i}`,
      statements: [{ sql: 'INSERT INTO account (id, name) VALUES (?, ?)', params: [`${i}`, `${i}`] }],
    });
  database.connection.run('BEGIN IMMEDIATE');
  database.outbox.markAcknowledged(130, 1000);
  database.outbox.pack();
  database.connection.run('COMMIT');
  expect(database.changelog.packs.isEmpty).toBe(false);
}

it('the connection for reads beside a transaction is opened again after it could not be opened', async () => {
  const { database, readsBeside, close } = await opener(new SimulatedDisk(), [])('writer', () => undefined);
  writePacked(database);
  vi.mocked(loadChangelogCode).mockRejectedValueOnce(new RockpoolError('code-unloadable', { part: 'changelog' }));
  await expect(readsBeside?.()).rejects.toMatchObject({ code: 'code-unloadable' });
  const reads = await readsBeside?.();
  expect((await reads?.query({ sql: 'SELECT id FROM account', params: [] }))?.rowCount).toBe(130);
  await close({ handsOver: false });
});

it('a read for which a connection is opened while the database closes is interrupted, and does not fail', async () => {
  const { readsBeside, close } = await opener(new SimulatedDisk(), [])('writer', () => undefined);
  const opening = readsBeside?.();
  await close({ handsOver: true });
  const reads = await opening;
  const statement = { sql: 'SELECT 1', params: [] };
  for (const read of [
    reads?.query(statement),
    reads?.queryAll([statement]),
    reads?.dependencies(statement),
    reads?.rowSyncState('account', ['a']),
    reads?.writeStates(['a']),
    reads?.listRejected(),
  ])
    await expect(read).rejects.toBeInstanceOf(ReadInterrupted);
});

it('a database can be opened again by the same worker after a part of the code could not be loaded', async () => {
  const disk = new SimulatedDisk();
  const open = opener(disk, []);
  const { database, close } = await open('writer', () => undefined);
  writePacked(database);
  await close({ handsOver: false });
  for (const role of ['writer', 'reader'] as const) {
    vi.mocked(loadChangelogCode).mockRejectedValueOnce(new RockpoolError('code-unloadable', { part: 'changelog' }));
    await expect(open(role, () => undefined)).rejects.toMatchObject({ code: 'code-unloadable' });
    const again = await open('writer', () => undefined);
    expect(again.database.connection.value('SELECT count(*) FROM account')).toBe(130);
    await again.close({ handsOver: false });
  }
});

it('a bundle without documents loads their code for a database to which a newer bundle has added one', async () => {
  const disk = new SimulatedDisk();
  const columns = { id: 'text not null', content: 'text' };
  const documents = [{ ...DEFAULT_DOCUMENT_RULE, column: 'content' }];
  const newer = buildSchema([testTable('page', columns, { merge: { ...DEFAULT_MERGE_RULES, documents } })]);
  const older = buildSchema([testTable('page', { id: 'text not null' })]);
  await (await opener(disk, [], null, null, newer)('writer', () => undefined)).close({ handsOver: false });
  vi.mocked(loadDocumentSupport).mockClear();
  const opened = await opener(disk, [], null, null, older)('writer', () => undefined);
  expect(loadDocumentSupport).toHaveBeenCalled();
  await opened.close({ handsOver: false });
});

it('damage that SQLite finds after a failure of the storage is reported as damage', async () => {
  const disk = new SimulatedDisk();
  const first = await opener(disk, [])('writer', () => undefined);
  const name = 'Ada'.repeat(100);
  for (let i = 0; i < 100; i++)
    first.database.write({
      id: `${i}`,
      statements: [{ sql: 'INSERT INTO account (id, name) VALUES (?, ?)', params: [`${i}`, `${name}${i}`] }],
    });
  const rootPage = first.database.connection.value(
    "SELECT rootpage FROM sqlite_schema WHERE name = 'account'",
  ) as number;
  await first.close({ handsOver: false });
  await damage(disk, await lastPageOf(disk, rootPage));
  const { database, close } = await opener(disk, [])('writer', () => undefined);
  disk.fault = ({ kind }) => (kind === 'write' ? 'quota' : undefined);
  const createTable = (): unknown => database.connection.exec('CREATE TABLE other (a)');
  expect(createTable).toThrow(expect.objectContaining({ code: 'storage-full' }));
  disk.fault = undefined;
  const readAll = (): unknown => database.connection.rows('SELECT amount FROM account');
  expect(readAll).toThrow(expect.objectContaining({ code: 'storage-corrupt' }));
  await close({ handsOver: false });
});
