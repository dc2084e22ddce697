import { join } from 'node:path';
import { FIRST_PREVIOUS_HASH, type RockpoolError } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RETENTION } from '../log/retention.ts';
import { foreignKeyChecks } from '../merge/foreign-keys.ts';
import { openDatabaseFile, type DatabaseFile } from '../store/database-file.ts';
import { durableInFile } from '../store/durability.ts';
import { SqliteFile } from '../store/sqlite-file.ts';
import { insert, toChangeset, withAges } from '../testing/changeset.ts';
import { temporaryFolder } from '../testing/test-server.ts';
import { TEST_SCHEMA } from '../testing/test-schema.ts';
import type { WaitingPush } from './admit-pushes.ts';
import { PushQueue } from './push-queue.ts';

let folder: ReturnType<typeof temporaryFolder>;
let file: DatabaseFile;
let beside: SqliteFile;
let commits: ReadonlySet<string>[];
let failures: unknown[];
let queue: PushQueue;
let onCommitted: () => void;

beforeEach(() => {
  folder = temporaryFolder();
  const path = join(folder.path, 'a.sqlite');
  file = openDatabaseFile(path, TEST_SCHEMA);
  beside = new SqliteFile(path);
  commits = [];
  failures = [];
  onCommitted = () => undefined;
  queue = new PushQueue({
    database: durableInFile(file),
    rules: { checks: foreignKeyChecks(file.tableByName), retention: RETENTION, validate: null },
    onCommitted: (authors) => {
      commits.push(authors);
      onCommitted();
    },
    onFailure: (error) => void failures.push(error),
  });
});
afterEach(() => {
  void queue.drainAll();
  beside.close();
  file.sql.close();
  folder.remove();
});

function pushOf(site: number, name = `account ${site}`): WaitingPush {
  const changesets = [toChangeset(1, 5, 0, [insert('accounts', `k${site}`, { name })])];
  return {
    site: site.toString(16).padStart(32, '0'),
    push: { type: 'push', previousHash: FIRST_PREVIOUS_HASH, olderEpochUpTo: 0, changesets: withAges(changesets, 1000) },
    sender: { principal: 'ann', receivedMs: 1000, isForeign: false },
  };
}

function settled(waiting: WaitingPush): Promise<RockpoolError | null> {
  return new Promise((resolve) => queue.push(waiting, resolve));
}

const storedBeside = (): unknown => beside.get('SELECT count(*) FROM rockpool_log')?.[0];

describe('the push queue', () => {
  it('commits everything that arrived together once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => settled(pushOf(i + 1))));
    expect(commits.map(({ size }) => size)).toEqual([20]);
    expect(storedBeside()).toBe(20n);
  });

  it('tells nobody before the commit is done', async () => {
    const seen: unknown[] = [];
    onCommitted = () => void seen.push(storedBeside());
    await settled(pushOf(1)).then(() => seen.push(storedBeside()));
    expect(seen).toEqual([1n, 1n]);
  });

  it('fails a push that the disk has no room for, alone, and goes on', async () => {
    const pages = Number(file.sql.get('PRAGMA page_count')?.[0]);
    file.sql.get(`PRAGMA max_page_count = ${pages + 4}`);
    const results = await Promise.all([settled(pushOf(1)), settled(pushOf(2, 'x'.repeat(200_000))), settled(pushOf(3))]);
    expect(results.map((refusal) => refusal?.code ?? null)).toEqual([null, 'database-unavailable', null]);
    expect(failures).toHaveLength(1);
    expect(storedBeside()).toBe(2n);
    expect(file.log.watermark).toBe(2);
    file.sql.get('PRAGMA max_page_count = 100000');
    expect(await settled(pushOf(2, 'x'.repeat(200_000)))).toBeNull();
    expect(file.log.watermark).toBe(3);
  });
});
