import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { databasesDirectory, membersPath } from '../store/data-directory.ts';
import { copyKey } from './object-names.ts';
import { ServerCopies } from './server-copies.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let dataDir: string;
let destination: MemoryDestination;
let members: SqliteMembers;
let copies: ServerCopies;
let nowMs: number;
let events: string[];

beforeEach(() => {
  events = [];
  dataDir = temporaryFolder();
  destination = new MemoryDestination();
  nowMs = 100 * HOUR_MS;
  databasesDirectory(dataDir);
  mkdirSync(join(dataDir, 'incoming'), { recursive: true });
  members = new SqliteMembers(membersPath(dataDir));
  onTestFinished(() => members.close());
  copies = new ServerCopies({
    ...{ dataDir, destination, run: 'run', keepMs: 1_000 * HOUR_MS, intervalMs: HOUR_MS },
    log: (event) => void events.push(event),
    now: () => nowMs,
  });
  onTestFinished(() => copies.close());
});

/** The key of a base that was copied after so many days. */
function baseOf(day: number): string {
  const timeMs = day * DAY_MS;
  const name = { source: 'db-a', level: 'base', first: 0, last: 0, timeMs, part: 0, parts: 1 } as const;
  return copyKey({ ...name, generation: `${String(timeMs).padStart(13, '0')}-00000000` });
}

const stored = (part: string): string[] => [...destination.objects.keys()].filter((key) => key.includes(part)).sort();

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

it('members that changed while the destination fails count as lag', async () => {
  await copies.look();
  expect(copies.state).toMatchObject({ pending: 0, lagMs: 0, outage: null });
  destination.onGet = () => 'refuse';
  members.write({ databaseId: 'a', principal: 'zoe', role: null });
  nowMs += HOUR_MS;
  await copies.look();
  nowMs += HOUR_MS;
  expect(copies.state).toMatchObject({ pending: 1, lagMs: HOUR_MS, outage: { code: 'backup-unavailable' } });
});

it('a clock that is far ahead deletes at most a day of copies in a pass', async () => {
  const trusting = new ServerCopies({
    ...{ dataDir, destination, run: 'run', keepMs: 2 * DAY_MS, intervalMs: HOUR_MS },
    log: (event) => void events.push(event),
    now: () => nowMs,
  });
  onTestFinished(() => trusting.close());
  const days = [1, 2, 3, 4, 5, 6];
  for (const day of days) destination.objects.set(baseOf(day), new Uint8Array(1));
  const keptAfter = async (atMs: number): Promise<readonly number[]> => {
    nowMs = atMs;
    await trusting.look();
    return days.filter((day) => destination.objects.has(baseOf(day)));
  };
  expect(await keptAfter(6 * DAY_MS)).toEqual(days);
  expect(await keptAfter(6 * DAY_MS + 6 * HOUR_MS)).toEqual([4, 5, 6]);
  expect(await keptAfter(365 * DAY_MS)).toEqual([5, 6]);
  expect(await keptAfter(6 * DAY_MS + 12 * HOUR_MS)).toEqual([5, 6]);
  expect(events.filter((event) => event.startsWith('backup-exp'))).toEqual([
    'backup-expired',
    'backup-expiry-delayed',
    'backup-expired',
  ]);
});

it.each(['the first pass', 'a later pass'])(
  'a clock that is far behind in %s does not delay later deletions',
  async (when) => {
    const server = new ServerCopies({
      ...{ dataDir, destination, run: 'run', keepMs: 2 * DAY_MS, intervalMs: HOUR_MS },
      log: (event) => void events.push(event),
      now: () => nowMs,
    });
    onTestFinished(() => server.close());
    const days = [1_001, 1_002, 1_003, 1_004, 1_005, 1_006];
    for (const day of days) destination.objects.set(baseOf(day), new Uint8Array(1));
    const keptAfter = async (atMs: number): Promise<readonly number[]> => {
      nowMs = atMs;
      await server.look();
      return days.filter((day) => destination.objects.has(baseOf(day)));
    };
    if (when === 'a later pass') expect(await keptAfter(1_006 * DAY_MS)).toEqual(days);
    expect(await keptAfter(5 * DAY_MS)).toEqual(days);
    expect(await keptAfter(5 * DAY_MS + 6 * HOUR_MS)).toEqual(days);
    expect(await keptAfter(1_006 * DAY_MS + 6 * HOUR_MS)).toEqual([1_004, 1_005, 1_006]);
    expect(events).not.toContain('backup-expiry-delayed');
  },
);

it('every schema is copied, even after one of them could not be stored', async () => {
  mkdirSync(join(dataDir, 'schemas'));
  for (const name of ['a.json', 'b.json']) writeFileSync(join(dataDir, 'schemas', name), '{}');
  let puts = 0;
  destination.onPut = (key) => (key.startsWith('schemas/') && ++puts === 2 ? 'refuse' : 'store');
  // After a failure, the next attempt is a second later.
  for (await copies.look(); !events.includes('backup-recovered'); await copies.look())
    await new Promise((resolve) => setImmediate(resolve));
  expect([stored('schemas/'), puts]).toEqual([['schemas/a.json', 'schemas/b.json'], 3]);
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

it('a change of the members during a copy is copied by the next one', async () => {
  let puts = 0;
  destination.onPut = (key) => {
    if (key.includes('/members/') && puts++ === 0) members.write({ databaseId: 'a', principal: 'zoe', role: 'owner' });
    return 'store';
  };
  await copies.look();
  const before = stored('/members/').length;
  nowMs += HOUR_MS;
  await copies.look();
  expect(stored('/members/').length).toBeGreaterThan(before);
});
