import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSchema } from '#shared/index.ts';
import { testTable } from '#client/testing/worker/table-schema.ts';
import { changesAfter } from '#sync-server/backend/change-feed.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { DirectDevice } from '#kit/direct-device.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

const page = testTable(
  'page',
  { id: 'text not null', title: 'text', hits: 'integer not null default 0' },
  { merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] } },
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
const idea = testTable(
  'idea',
  { id: 'text not null', title: 'text', body: 'text' },
  { merge: { deleteRule: 'update-wins', counters: [], groups: [], documents: [] } },
);
const schema = buildSchema([page, note, idea]);
const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

let folder: string;
let nowMs: number;
let live: LiveDatabase;
let ann: DirectDevice;
let ben: DirectDevice;

const path = (): string => join(folder, 'server.sqlite');
const backupPath = (number: number): string => join(folder, `backup-${number}.sqlite`);
const open = (): LiveDatabase =>
  new LiveDatabase(openDatabaseFile(path(), schema), {
    onFailure: (error) => {
      throw error;
    },
  });

beforeEach(() => {
  folder = temporaryFolder();
  nowMs = Date.UTC(2026, 0, 1);
  live = open();
  [ann, ben] = [1, 2].map((number) => new DirectDevice(schema, () => nowMs, number)) as [DirectDevice, DirectDevice];
});
afterEach(() => {
  for (const device of [ann, ben]) device.close();
  void live.close();
});

/** Syncs in this order until all devices are up to date. */
async function sync(...devices: readonly DirectDevice[]): Promise<void> {
  nowMs += HOUR_MS;
  for (let round = 0; round < 3; round++) for (const device of devices) await device.settle(live);
}

/** A copy of the server's file, taken between two commits. */
function backUp(number = 1): void {
  live.file.sql.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  copyFileSync(path(), backupPath(number));
}

function restore(number = 1): void {
  for (const device of [ann, ben]) device.cut();
  void live.close();
  for (const suffix of ['-wal', '-shm']) if (existsSync(path() + suffix)) rmSync(path() + suffix);
  copyFileSync(backupPath(number), path());
  live = open();
}

const lost = (): unknown[][] =>
  ann.rows('SELECT table_name, column_name, lost_value, won_value FROM rockpool_conflict ORDER BY id');

describe('a server restored from an older backup', () => {
  it('receives the changesets of two clients again, each exactly once [MR-40]', async () => {
    ann.write("INSERT INTO page (id, title, hits) VALUES ('p', 'start', 10)");
    await sync(ann, ben);
    backUp();
    ann.writeAll(
      "UPDATE page SET hits = hits + 1 WHERE id = 'p'",
      "INSERT INTO note (id, page_id, body) VALUES ('a', 'p', 'of ann')",
    );
    await sync(ann, ben);
    ben.writeAll(
      "UPDATE page SET hits = hits + 2, title = 'by ben' WHERE id = 'p'",
      "INSERT INTO note (id, page_id, body) VALUES ('b', 'p', 'of ben')",
    );
    await sync(ann, ben);
    restore();
    await sync(ben, ann);
    for (const device of [ann, ben]) {
      expect(device.rows('SELECT title, hits FROM page')).toEqual([['by ben', 13]]);
      expect(device.rows('SELECT id FROM note ORDER BY id')).toEqual([['a'], ['b']]);
      expect(device.sync.counts()).toMatchObject({ pendingCount: 0, rejectedCount: 0 });
    }
    expect(live.file.sql.all('SELECT title, hits FROM page')).toEqual([['by ben', 13n]]);
  });

  it('receives again only changesets of the last seven days; everything else stays as in the backup [MR-42]', async () => {
    backUp();
    for (const key of ['old', 'last old']) {
      ann.write(`INSERT INTO page (id, title) VALUES ('${key}', 'x')`);
      await sync(ann, ben);
      await sync(ann, ben);
    }
    nowMs += 6 * DAY_MS;
    ann.write("INSERT INTO page (id, title) VALUES ('new', 'new')");
    await sync(ann, ben);
    nowMs += 2 * DAY_MS;
    ann.write("INSERT INTO page (id, title) VALUES ('newest', 'newest')");
    await sync(ann, ben);
    restore();
    ann.connect(live);
    // Ann's first changeset is pruned. The newest of the expired changesets stays, because the next one is linked to
    // it. A device's engine sends the rest under a new site id.
    expect(() => ann.takeNext()).toThrow('the device does not accept the welcome: new-site');
    ann.sync.becomeNewSite(2);
    ann.cut();
    await sync(ann, ben);
    expect(ben.rows('SELECT id FROM page ORDER BY id')).toEqual([['last old'], ['new'], ['newest']]);
  });

  it('rejects changes to rows that arrive later, or logs them as conflicts; a retry succeeds once the rows have arrived [MR-46]', async () => {
    ann.write("INSERT INTO page (id, title) VALUES ('p', 'start')");
    await sync(ann, ben);
    backUp();
    ann.write("INSERT INTO page (id, title) VALUES ('q', 'of ann')");
    await sync(ann, ben);
    ben.write("INSERT INTO note (id, page_id) VALUES ('b', 'q')");
    ben.write("UPDATE page SET title = 'by ben' WHERE id = 'q'");
    await sync(ann, ben);
    restore();
    await sync(ben);
    expect(ben.database.listRejected()).toMatchObject([
      { reason: { code: 'constraint-foreign-key' }, changes: [{ table: 'note' }] },
    ]);
    await sync(ann, ben);
    expect(lost()).toEqual([['page', 'title', 'by ben', null]]);
    const [rejected] = ben.database.listRejected();
    ben.database.retryRejected(rejected?.sequence ?? 0);
    await sync(ben, ann);
    for (const device of [ann, ben]) expect(device.rows('SELECT page_id FROM note')).toEqual([['q']]);
  });

  it('sends all rows to a service that had read the lost log, even if the new log is as long', async () => {
    ann.write("INSERT INTO page (id, title) VALUES ('p', 'start')");
    await sync(ann, ben);
    backUp();
    const before = changesAfter(live, null);
    ben.cut();
    ann.write("INSERT INTO page (id, title) VALUES ('lost', 'lost')");
    await sync(ann);
    const kept = changesAfter(live, before);
    restore();
    // No device has yet revealed a loss, so the log epoch is unchanged.
    for (const id of ['q', 'r']) ben.write(`INSERT INTO page (id, title) VALUES ('${id}', 'new')`);
    await sync(ben);
    expect(changesAfter(live, before)).toMatchObject({
      logEpoch: kept?.logEpoch,
      whole: false,
      rows: [{ key: { id: 'q' } }, { key: { id: 'r' } }],
    });
    expect(changesAfter(live, kept)).toMatchObject({
      whole: true,
      rows: [{ key: { id: 'p' } }, { key: { id: 'q' } }, { key: { id: 'r' } }],
    });
  });

  it('treats values written before the restore was noticed as unseen [MR-47]', async () => {
    ann.write("INSERT INTO page (id, title) VALUES ('p', 'start')");
    await sync(ann, ben);
    backUp();
    // Ann has seen two watermarks that Ben has not.
    ben.cut();
    ann.write("INSERT INTO page (id, title) VALUES ('q', 'q')");
    ann.write("INSERT INTO page (id, title) VALUES ('r', 'r')");
    await sync(ann);
    restore();
    ben.write("UPDATE page SET title = 'by ben' WHERE id = 'p'");
    await sync(ben);
    ann.write("UPDATE page SET title = 'by ann' WHERE id = 'p'");
    await sync(ann, ben);
    for (const device of [ann, ben]) expect(device.rows("SELECT title FROM page WHERE id = 'p'")).toEqual([['by ann']]);
    expect(lost()).toEqual([['page', 'title', 'by ben', 'by ann']]);
  });

  it('treats values of the log between two restores as unseen for a client that missed both [MR-47]', async () => {
    ann.write("INSERT INTO page (id, title) VALUES ('p', 'start')");
    await sync(ann, ben);
    backUp(1);
    for (const key of ['q', 'r', 's', 't']) ben.write(`INSERT INTO page (id, title) VALUES ('${key}', '${key}')`);
    await sync(ann, ben);
    ben.write("UPDATE page SET title = 'by ben' WHERE id = 'p'");
    ben.cut();
    restore(1);
    nowMs += HOUR_MS;
    ann.write("UPDATE page SET title = 'by ann' WHERE id = 'p'");
    await sync(ann);
    backUp(2);
    ann.write("INSERT INTO page (id, title) VALUES ('u', 'u')");
    await sync(ann);
    restore(2);
    await sync(ann);
    await sync(ben, ann);
    const [[title]] = ann.rows("SELECT title FROM page WHERE id = 'p'") as [[string]];
    expect(ben.rows("SELECT title FROM page WHERE id = 'p'")).toEqual([[title]]);
    expect(lost()).toEqual([['page', 'title', title === 'by ann' ? 'by ben' : 'by ann', title]]);
    for (const device of [ann, ben])
      expect(device.rows('SELECT id FROM page ORDER BY id').flat()).toEqual(['p', 'q', 'r', 's', 't', 'u']);
  });

  it('admits changes, additions and deletes of rows that another client has sent again [MR-41]', async () => {
    backUp();
    for (const key of ['p', 'q', 'r']) ann.write(`INSERT INTO page (id, title) VALUES ('${key}', 'start')`);
    await sync(ann, ben);
    ben.writeAll("DELETE FROM page WHERE id = 'p'", "UPDATE page SET title = 'by ben', hits = hits + 2 WHERE id = 'q'");
    await sync(ben, ann);
    restore();
    ben.write("DELETE FROM page WHERE id = 'r'");
    await sync(ann, ben);
    for (const device of [ann, ben])
      expect(device.rows('SELECT id, title, hits FROM page')).toEqual([['q', 'by ben', 2]]);
    // The replaced value is in the conflict log even though Ben had seen it.
    expect(lost()).toContainEqual(['page', 'title', 'start', 'by ben']);
  });

  it('keeps a row deleted if its delete arrives before the row is sent again [MR-46]', async () => {
    backUp();
    for (const key of ['p', 'q'])
      ann.writeAll(
        `INSERT INTO page (id, title) VALUES ('${key}', 'start')`,
        `INSERT INTO note (id, page_id) VALUES ('below ${key}', '${key}')`,
      );
    await sync(ann, ben);
    ben.write("DELETE FROM page WHERE id = 'p'");
    await sync(ben, ann);
    restore();
    await sync(ben, ann);
    for (const device of [ann, ben]) {
      expect(device.rows('SELECT page.id, note.id FROM page LEFT JOIN note ON page_id = page.id')).toEqual([
        ['q', 'below q'],
      ]);
      expect(device.sync.counts()).toMatchObject({ pendingCount: 0, rejectedCount: 0 });
    }
    expect(lost()).toContainEqual(['page', 'title', 'start', null]);
  });

  it('restores a row under update-wins if its delete arrives before an update sends it again [MR-46]', async () => {
    backUp();
    ann.write("INSERT INTO idea (id, title, body) VALUES ('i', 'start', 'all of it')");
    await sync(ann, ben);
    ann.cut();
    ann.write("UPDATE idea SET title = 'better' WHERE id = 'i'");
    ben.write("DELETE FROM idea WHERE id = 'i'");
    await sync(ben);
    restore();
    await sync(ben, ann);
    for (const device of [ann, ben]) {
      expect(device.rows('SELECT title, body FROM idea')).toEqual([['better', 'all of it']]);
      expect(device.sync.counts()).toMatchObject({ pendingCount: 0, rejectedCount: 0 });
    }
  });

  it('does not mistake a row that was created again for the deleted one [MR-41]', async () => {
    backUp();
    ben.write("INSERT INTO page (id, title) VALUES ('p', 'of ben')");
    await sync(ben, ann);
    ben.write("DELETE FROM page WHERE id = 'p'");
    await sync(ben, ann);
    ben.cut();
    restore();
    ann.write("INSERT INTO page (id, title) VALUES ('p', 'of ann')");
    await sync(ann);
    await sync(ben, ann);
    for (const device of [ann, ben]) expect(device.rows('SELECT id, title FROM page')).toEqual([['p', 'of ann']]);
  });

  it('applies what a client wrote before its first connection to no row of another client [MR-41]', async () => {
    backUp();
    ben.writeAll("INSERT INTO page (id, title) VALUES ('p', 'of ben')", "INSERT INTO page (id) VALUES ('q')");
    nowMs += 1000;
    for (const key of ['p', 'q']) ann.write(`INSERT INTO page (id, title) VALUES ('${key}', 'of ann')`);
    nowMs += 1000;
    ben.writeAll("DELETE FROM page WHERE id = 'p'", "UPDATE page SET hits = hits + 1 WHERE id = 'q'");
    await sync(ann, ben);
    const before = ann.rows('SELECT id, title, hits FROM page ORDER BY id');
    expect(before).toEqual([
      ['p', 'of ann', 0],
      ['q', 'of ann', 0],
    ]);
    restore();
    await sync(ann, ben);
    for (const device of [ann, ben])
      expect(device.rows('SELECT id, title, hits FROM page ORDER BY id')).toEqual(before);
  });

  it('accepts changes from between and after two restores of one backup [MR-41]', async () => {
    for (const key of ['p', 'q', 'r']) ann.write(`INSERT INTO page (id, title) VALUES ('${key}', 'start')`);
    await sync(ann, ben);
    backUp();
    ann.write("INSERT INTO page (id, title) VALUES ('s', 'start')");
    await sync(ann, ben);
    restore();
    await sync(ann, ben);
    ben.write("DELETE FROM page WHERE id = 'p'");
    await sync(ben, ann);
    // No device that knows the log epoch is ahead of the restored log, so the log epoch stays.
    restore();
    ben.writeAll("UPDATE page SET title = 'by ben' WHERE id = 'q'", "DELETE FROM page WHERE id = 'r'");
    await sync(ann, ben);
    for (const device of [ann, ben])
      expect(device.rows('SELECT id, title FROM page ORDER BY id')).toEqual([
        ['q', 'by ben'],
        ['s', 'start'],
      ]);
  });
});
