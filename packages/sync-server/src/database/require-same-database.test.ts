import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FIRST_LOG_HASH, type Failure, type Hello } from '@rockpool/shared';
import { insert } from '../../testing/changeset.ts';
import { lostHash } from '../../testing/lost-hash.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { databasePath } from '../store/data-directory.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

const tested = serverUnderTest();
const OTHER = 'other-household';

/** A disconnected site with one row on the server, whose id is `id`. */
async function known(databaseId: string, id: string): Promise<TestSite> {
  const connection = await tested.server.open(new TestSite(), { databaseId });
  await connection.commit([insert('accounts', id, { name: id })]);
  await connection.close();
  return connection.site;
}

async function hello(site: TestSite, databaseId: string, changes: Partial<Hello> = {}): Promise<TestConnection> {
  const connection = await tested.server.connect(site);
  connection.hello(await tested.server.token('editor', 'ann', databaseId), databaseId, changes);
  return connection;
}

async function refusal(site: TestSite, databaseId: string, changes: Partial<Hello> = {}): Promise<Failure> {
  return (await hello(site, databaseId, changes)).failure();
}

const FROM_BEFORE = { databaseIdentity: null };

describe('the local database of a client', () => {
  it('is refused before the server accepts any of its rows, if it belongs to a different server database', async () => {
    const [mine, theirs] = [await known(DATABASE, 'mine'), await known(OTHER, 'theirs')];
    const listener = await tested.server.open(new TestSite(), { databaseId: OTHER });
    // The cursor exceeds the other log. Without the check, a new log epoch would begin in that log, and every client
    // would resync.
    const failure = await refusal(mine, OTHER, { cursor: 70, lastAckedSequence: 3, lastSequence: 3 });
    expect(failure).toMatchObject({ code: 'database-mismatch', fields: { problem: expect.any(String) as string } });
    await listener.roundTrip();
    expect(listener.closed).toBeNull();
    expect(listener.site.logEpoch).toEqual(theirs.logEpoch);
    // Changesets that are pushed right after the hello are not accepted either.
    const eager = await hello(mine, OTHER);
    mine.write([insert('accounts', 'leak', { name: 'leak' })]);
    eager.push();
    expect((await eager.failure()).code).toBe('database-mismatch');
    expect(tested.server.query('SELECT id FROM accounts', OTHER)).toEqual([['theirs']]);
    // The client continues with its own database.
    await expect((await hello(mine, DATABASE)).next('welcome')).resolves.toMatchObject({ fullResync: false });
  });

  it('proves its database by log epoch or log hash if it has no database identity yet', async () => {
    const site = await known(DATABASE, 'mine');
    const { databaseIdentity, logEpoch, cursor, logHashes } = site;
    const cursorHash = logHashes.get(cursor) as Uint8Array;
    for (const shown of [
      { logEpoch, cursor: 0, cursorHash: FIRST_LOG_HASH },
      { logEpoch: randomBytes(16), cursor, cursorHash },
    ]) {
      const connection = await hello(site, DATABASE, { ...FROM_BEFORE, ...shown });
      expect(await connection.next('welcome')).toMatchObject({ databaseIdentity });
      await connection.close();
    }
    await known(OTHER, 'theirs');
    for (const notShown of [
      { logEpoch, cursor: 0 },
      { logEpoch, cursor, cursorHash },
      { logEpoch, cursor: 70, cursorHash },
      { logEpoch: null, cursor, cursorHash },
      { logEpoch: null, cursor: 1 },
    ]) {
      expect(await refusal(site, OTHER, { ...FROM_BEFORE, ...notShown })).toMatchObject({ code: 'database-mismatch' });
    }
  });

  const lostHashOf = (cursor: number): Uint8Array => {
    const sql = new SqliteFile(databasePath(tested.server.dataDir, DATABASE), { readOnly: true });
    try {
      return lostHash(sql, cursor);
    } finally {
      sql.close();
    }
  };

  it('is accepted by an earlier log epoch if it has no database identity yet', async () => {
    const site = await known(DATABASE, 'mine');
    // The client has seen entries that the log has lost, so a new log epoch begins, twice. Each one remembers the
    // earlier ones.
    for (const cursor of [7, 9]) {
      const ahead = await hello(site, DATABASE, { cursor, cursorHash: lostHashOf(cursor) });
      const { logEpoch } = await ahead.next('welcome');
      expect(logEpoch).not.toEqual(site.logEpoch);
      await ahead.close();
      await tested.restart();
      const old = await hello(site, DATABASE, { ...FROM_BEFORE, cursor: 70 });
      expect(await old.next('welcome')).toMatchObject({ fullResync: true, logEpoch });
      await old.close();
      site.logEpoch = logEpoch;
      await known(DATABASE, `row-${cursor}`);
    }
  });

  it('is accepted if it was never welcomed before, because it holds no rows of any database', async () => {
    await known(DATABASE, 'mine');
    const connection = await hello(new TestSite(), DATABASE);
    expect((await connection.next('welcome')).databaseIdentity).toHaveLength(16);
  });
});
