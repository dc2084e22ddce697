import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { databasesDirectory, membersPath } from '../store/data-directory.ts';
import { ServerCopies } from './server-copies.ts';

const HOUR_MS = 3_600_000;

let dataDir: string;
let destination: MemoryDestination;
let members: SqliteMembers;
let copies: ServerCopies;
let nowMs: number;

beforeEach(() => {
  dataDir = temporaryFolder();
  destination = new MemoryDestination();
  nowMs = 100 * HOUR_MS;
  databasesDirectory(dataDir);
  mkdirSync(join(dataDir, 'incoming'), { recursive: true });
  members = new SqliteMembers(membersPath(dataDir));
  onTestFinished(() => members.close());
  copies = new ServerCopies({
    ...{ dataDir, destination, run: 'run', keepMs: 1_000 * HOUR_MS, intervalMs: HOUR_MS },
    log: () => undefined,
    now: () => nowMs,
  });
  onTestFinished(() => copies.close());
});

const stored = (part: string): string[] => [...destination.objects.keys()].filter((key) => key.includes(part));

it('the members are copied and deletions recorded even if the clock was set back', async () => {
  await copies.look();
  const before = stored('/members/').length;
  members.write({ databaseId: 'a', principal: 'zoe', role: 'owner' });
  writeFileSync(join(dataDir, 'databases', 'db-a.sqlite-forgotten'), '1');
  nowMs -= 2 * HOUR_MS;
  await copies.look();
  expect(stored('/members/').length).toBeGreaterThan(before);
  expect(stored('db-a/deleted-')).toHaveLength(1);
});

it('every deletion of a database is recorded, even if the previous one is still being recorded', async () => {
  const path = join(dataDir, 'databases', 'db-a.sqlite-forgotten');
  writeFileSync(path, '1000');
  destination.onPut = (key) => {
    if (key.endsWith('1000')) writeFileSync(path, '2000');
    return 'store';
  };
  await copies.look();
  nowMs += HOUR_MS;
  await copies.look();
  expect(stored('deleted-')).toEqual(
    ['1000', '2000'].map((time) => `databases/db-a/deleted-${time.padStart(13, '0')}`),
  );
  expect(existsSync(path)).toBe(false);
});
