import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { CopiedHistory } from '../../testing/copied-history.ts';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { pageSum } from '../sqlite/page-sums.ts';
import { listCopies, readCopies, type CopySet } from './generations.ts';
import { maintain } from './maintenance.ts';
import { copyKey, deletedKey, type Level } from './object-names.ts';
import { decodeSections, encodeSection } from './page-section.ts';
import { planRestore } from './restore-plan.ts';
import { expiredKeys } from './retention.ts';

const SOURCE = 'db-a';

async function levelsOf(history: CopiedHistory): Promise<string[]> {
  const { generations } = await listCopies(history.destination, SOURCE);
  return generations.flatMap(({ copies }) => copies.map(({ level, first, last }) => `${level}:${first}-${last}`));
}

async function copyTimes(history: CopiedHistory, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    history.commit(`INSERT INTO item (content) VALUES (${i})`);
    await history.copy();
  }
}

it('maintenance combines 32 copies into one object, and the state of each copy stays restorable', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  await history.copy();
  await copyTimes(history, 70);
  expect(await levelsOf(history)).toEqual([...[65, 66, 67, 68, 69, 70].map((i) => `0:${i}-${i}`), '1:1-32', '1:33-64']);
  for (const { atMs, rows } of history.states.filter((_, i) => i % 9 === 0 || (i > 30 && i < 35)))
    expect(await history.restored(atMs)).toBe(rows);
  history.close();
});

it('maintenance deletes the single objects that a server left behind when it was killed after storing their bundle', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  await history.copy();
  await copyTimes(history, 31);
  const before = new Map(history.destination.objects);
  await copyTimes(history, 1);
  const bundled = await levelsOf(history);
  // Some of the single objects are still there.
  for (const [key, content] of [...before].slice(5, 20)) history.destination.objects.set(key, content);
  expect(await levelsOf(history)).not.toEqual(bundled);
  for (const { atMs, rows } of history.states) expect(await history.restored(atMs)).toBe(rows);
  await maintain(history.destination, {
    source: SOURCE,
    generation: history.copied.facts?.generation ?? '',
    copies: 32,
  });
  expect(await levelsOf(history)).toEqual(bundled);
  history.close();
});

it.each([
  [10, 1],
  [1_100, 0],
])(
  'maintenance merges at most 128 MiB of pages: 32 bundles with %i pages each become %i objects of level 2',
  async (count, merged) => {
    const destination = new MemoryDestination();
    const generation = `${'1'.padStart(13, '0')}-00000000`;
    const content = Buffer.alloc(4096, 'x');
    const sum = pageSum(content);
    for (let bundle = 0; bundle < 32; bundle++) {
      const range = { first: 32 * bundle + 1, last: 32 * (bundle + 1), part: 0, parts: 1, timeMs: bundle };
      const pages = Array.from({ length: count }, (_, i) => ({ number: count * bundle + i + 1, sum, content }));
      const facts = { watermark: null, pageSizeBytes: 4096, pageCount: 32 * count, before: '', after: '' };
      const key = copyKey({ source: SOURCE, generation, level: 1, ...range });
      await destination.put(key, await encodeSection({ ...range, ...facts }, pages));
    }
    await maintain(destination, { source: SOURCE, generation, copies: 1_024 });
    const { generations } = await listCopies(destination, SOURCE);
    expect(generations[0]?.copies.filter(({ level }) => level === 2)).toHaveLength(merged);
  },
);

it('the sections of an object are unpacked one at a time', async () => {
  const header = { first: 1, last: 1, part: 0, parts: 1, timeMs: 1, watermark: null, pageSizeBytes: 4096 };
  const section = await encodeSection({ ...header, pageCount: 0, before: '', after: '' }, []);
  const damaged = Buffer.from(section).fill(0, section.length - 1);
  const sections = decodeSections('key', Buffer.concat([section, damaged]));
  expect(await sections.next()).toMatchObject({ value: { header }, done: false });
  await expect(sections.next()).rejects.toMatchObject({ code: 'backup-damaged' });
});

const HOUR_MS = 3_600_000;
const object = (
  startHour: number,
  level: Level,
  copy: number,
  hour: number,
  parts = 1,
): { key: string; sizeBytes: number } => ({
  key: copyKey({
    source: SOURCE,
    generation: `${String(startHour * HOUR_MS).padStart(13, '0')}-00000000`,
    ...{ level, first: copy, last: copy, timeMs: hour * HOUR_MS, part: 0, parts },
  }),
  sizeBytes: 1,
});
const base = (hour: number, parts = 1): { key: string; sizeBytes: number } => object(hour, 'base', 0, hour, parts);

it('maintenance keeps everything since the newest base before the retention, and always keeps the last base', () => {
  const objects = [base(1), object(1, 0, 1, 2), base(3), object(3, 0, 1, 4), base(5)];
  const expiredAt = (hour: number): readonly string[] => expiredKeys(readCopies(objects), hour * HOUR_MS);
  expect(expiredAt(2)).toEqual([]);
  expect(expiredAt(4)).toEqual(objects.slice(0, 2).map(({ key }) => key));
  expect(expiredAt(1_000)).toEqual(objects.slice(0, 4).map(({ key }) => key));
});

it('maintenance keeps older states while a newer base is incomplete, and deletes a base that will never be complete', () => {
  const objects = [base(1), object(1, 0, 1, 2), base(3, 2)];
  expect(expiredKeys(readCopies(objects), 100 * HOUR_MS)).toEqual([]);
  expect(expiredKeys(readCopies(objects), 1_000 * HOUR_MS)).toEqual([objects[2]?.key]);
});

it('maintenance deletes a deleted database after the retention, unless it was created again', () => {
  const deleted = { key: deletedKey(SOURCE, 4 * HOUR_MS), sizeBytes: 0 };
  const objects = [base(1), object(1, 0, 1, 2), deleted];
  expect(expiredKeys(readCopies(objects), 3 * HOUR_MS)).toEqual([]);
  expect(expiredKeys(readCopies(objects), 4 * HOUR_MS)).toEqual(objects.map(({ key }) => key));
  const again = [base(1), base(6), deleted];
  expect(expiredKeys(readCopies(again), 9 * HOUR_MS)).toEqual([again[0]?.key]);
  const planned = (hour: number): readonly CopySet[] | undefined =>
    planRestore(readCopies(again), hour * HOUR_MS)?.sets;
  expect([planned(3), planned(5), planned(7)].map((sets) => sets?.length)).toEqual([1, undefined, 1]);
  // Its first copy is not complete yet.
  const beginning = [base(1), base(6, 2), deleted];
  expect(expiredKeys(readCopies(beginning), 9 * HOUR_MS)).toEqual([]);
  // After the clock was set back, a database is deleted at the time of its last copy.
  const atOnce = [base(4), deleted];
  expect(expiredKeys(readCopies(atOnce), 9 * HOUR_MS)).toEqual(atOnce.map(({ key }) => key));
});
