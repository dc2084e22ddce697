import type { TableSchema } from '@rockpool/shared';
import { afterEach, describe, expect, it } from 'vitest';
import { openInMemory, testSchema } from '../../../testing/worker/test-database.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { decodePack } from './changeset-pack.ts';
import { ADMITTED_RETENTION_MS } from './outbox.ts';
import { renumber } from './renumber.ts';
import { rowSyncState } from './row-sync-state.ts';
import type { StoredChangeset } from './stored-changeset.ts';

const LARGE = new Uint8Array(20_000);

let database: OpenDatabase;
afterEach(() => database.close());

/** Writes this number of changesets; those in `large` are large. */
function withChangesets(count: number, large: readonly number[] = []): StoredChangeset[] {
  database = openInMemory();
  for (let i = 1; i <= count; i++) write(`r${i}`, `k${i}`, large.includes(i) ? LARGE : new Uint8Array(20));
  return [...database.changelog.readStoredAfter(0)];
}

function write(id: string, key: string, extra: Uint8Array): void {
  database.write({ id, statements: [{ sql: 'INSERT INTO account (id, extra) VALUES (?, ?)', params: [key, extra] }] });
}

/** Acknowledges the changesets up to `upTo` and packs every complete run. A delivery packs at most one. */
function admit(upTo: number): void {
  database.outbox.markAcknowledged(upTo, 1000);
  for (let i = 0; i <= upTo; i += 16) database.outbox.pack();
}

const packs = (): unknown[] =>
  database.connection.rows('SELECT first, last FROM rockpool_changelog_pack ORDER BY last');
const rows = (): unknown[] =>
  database.connection.rows('SELECT sequence FROM rockpool_changelog ORDER BY sequence').flat();
const sizeOf = (table: string, columns: string): number =>
  database.connection.value(`SELECT ifnull(sum(${columns}), 0) FROM ${table}`) as number;

describe('packs of the changelog', () => {
  it('hold admitted changesets in less than a third of the bytes, and return them unchanged', () => {
    const all = withChangesets(257);
    const before = sizeOf('rockpool_changelog', 'length(hash) + length(body) + length(before)');
    admit(257);
    expect(packs()).toEqual([
      [1, 128],
      [129, 256],
    ]);
    expect(rows()).toEqual([257]);
    expect(sizeOf('rockpool_changelog_pack', 'length(packed)')).toBeLessThan(before / 3);
    expect([...database.changelog.readStoredAfter(0)]).toEqual(all);
    expect([...database.changelog.readStoredAfter(40)]).toEqual(all.slice(40));
    expect([...database.changelog.readStoredAfter(250)]).toEqual(all.slice(250));
    for (const { sequence, hash } of all) expect(database.changelog.findHash(sequence)).toEqual(hash);
    expect(database.changelog.firstRetained()).toBe(1);
    expect(database.changelog.read(7)).toMatchObject({ sequence: 7, groups: [{ keys: [['k7']] }] });
    expect(database.changelog.read(301)).toBe(null);
  });

  it('leave pending, rejected, re-created and large changesets, and the last one, unpacked', () => {
    withChangesets(320, [50]);
    database.connection.run("UPDATE rockpool_changelog SET origin = x'00' WHERE sequence = 140");
    const all = [...database.changelog.readStoredAfter(0)];
    database.rejected.add(100, { code: 'constraint-check', fields: {}, recovery: 'ask-user', message: '' }, 0);
    admit(300);
    expect(packs()).toEqual([
      [1, 49],
      [51, 99],
      [101, 139],
      [141, 268],
    ]);
    expect([...database.changelog.readStoredAfter(0)]).toEqual(all);
    expect(database.changelog.firstRetained()).toBe(1);
    expect(database.outbox.nextPush(300, 1e9)?.changesets.map(({ sequence }) => sequence)[0]).toBe(301);
  });

  it('are sent again to a server that was restored from a backup', () => {
    const all = withChangesets(130);
    admit(130);
    // A copied file compares its changesets before anything is applied, so they are still packed.
    expect(database.outbox.nextPush(10, 1e9)).toEqual({
      previousHash: all[9]?.hash,
      changesets: all.slice(10).map(({ sequence, stampUs, base, body }) => ({ sequence, stampUs, base, body })),
    });
    database.outbox.markPendingAfter(40, 2000);
    expect(database.outbox.pendingCount()).toBe(90);
    expect(packs()).toEqual([]);
    expect([...database.changelog.readStoredAfter(0)]).toEqual(all);
    admit(130);
    expect(packs()).toEqual([[1, 128]]);
    expect([...database.changelog.readStoredAfter(0)]).toEqual(all);
  });

  it('are created full, so that no changeset is compressed twice', () => {
    const all = withChangesets(300);
    for (const upTo of [33, 65, 97, 128]) admit(upTo);
    expect(packs()).toEqual([]);
    admit(129);
    expect(packs()).toEqual([[1, 128]]);
    for (const upTo of [161, 193, 225, 257, 289]) admit(upTo);
    expect(packs()).toEqual([
      [1, 128],
      [129, 256],
    ]);
    expect([...database.changelog.readStoredAfter(0)]).toEqual(all);
  });

  it('are full with fewer changesets if the changesets are larger', () => {
    database = openInMemory();
    for (let i = 1; i <= 112; i++) write(`r${i}`, `k${i}`, new Uint8Array(1_000));
    admit(33);
    expect(packs()).toEqual([]);
    admit(80);
    expect(packs()).toEqual([[1, 63]]);
    admit(112);
    expect(packs()).toEqual([[1, 63]]);
  });

  it('are created again after a rollback has undone their creation', () => {
    withChangesets(300);
    database.outbox.markAcknowledged(130, 1000);
    database.outbox.pack();
    expect(packs()).toEqual([[1, 128]]);
    database.outbox.markAcknowledged(300, 2000);
    database.connection.run('BEGIN');
    database.outbox.pack();
    const both = [
      [1, 128],
      [129, 256],
    ];
    expect(packs()).toEqual(both);
    database.connection.run('ROLLBACK');
    expect(packs()).toEqual([[1, 128]]);
    admit(300);
    expect(packs()).toEqual(both);
  });

  it('are renumbered for a new site', () => {
    const all = withChangesets(200);
    admit(190);
    database.changelog.packs.unpackAfter(0);
    const options = { oldSiteId: database.siteId, logEpoch: null, firstOwn: 131 };
    const { numberOf } = renumber(database.connection, options);
    expect([130, 131, 190, Infinity].map(numberOf)).toEqual([0, 1, 60, 70]);
    expect([...database.changelog.readStoredAfter(0)].map(({ body }) => body)).toEqual(
      all.slice(130).map(({ body }) => body),
    );
  });

  it('are removed when all their changesets are old enough', () => {
    withChangesets(300);
    admit(130);
    database.outbox.markAcknowledged(300, 2 * 60 * 60 * 1000);
    database.outbox.pack();
    database.outbox.pack();
    const both = [
      [1, 128],
      [129, 256],
    ];
    expect(packs()).toEqual(both);
    // The first changeset is old enough one second later, the other two hours later.
    database.outbox.prune(ADMITTED_RETENTION_MS + 500);
    expect(packs()).toEqual(both);
    database.outbox.prune(ADMITTED_RETENTION_MS + 60 * 60 * 1000);
    expect(packs()).toEqual([[129, 256]]);
    database.outbox.prune(ADMITTED_RETENTION_MS + 3 * 60 * 60 * 1000);
    expect(packs()).toEqual([]);
    expect(rows()).toEqual([300]);
    expect(database.changelog.firstRetained()).toBe(300);
  });

  it('still let a write be undone, and report the sync state of its row', () => {
    withChangesets(130);
    admit(130);
    const table = testSchema.tables.find(({ name }) => name === 'account') as TableSchema;
    expect(rowSyncState(database, table, ['k5'])).toMatchObject({
      stage: 'admitted',
      changes: [{ sequence: 5, stage: 'admitted' }],
    });
    database.write({ id: 'undo', statements: [], action: { kind: 'undo', requestId: 'r5' } });
    expect(database.connection.value(`SELECT count(*) FROM account WHERE id = 'k5'`)).toBe(0);
  });

  it('leave changesets unpacked if they do not follow from each other', () => {
    withChangesets(300);
    database.connection.run('UPDATE rockpool_changelog SET base = base + 1 WHERE sequence = 40');
    admit(300);
    expect(packs()).toEqual([
      [1, 32],
      [65, 192],
    ]);
  });

  it('throw storage-corrupt when they are damaged', () => {
    withChangesets(130);
    admit(130);
    const packed = database.connection.value('SELECT packed FROM rockpool_changelog_pack') as Uint8Array;
    expect(() => decodePack(packed.slice(0, -10), 1)).toThrow(expect.objectContaining({ code: 'storage-corrupt' }));
  });
});
