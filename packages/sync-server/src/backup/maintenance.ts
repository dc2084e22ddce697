import type { Destination, StoredObject } from './destination.ts';
import { readCopies, type CopySet } from './generations.ts';
import { copyKey, sourcePrefix, type Level } from './object-names.ts';
import { damaged, decodeSections, encodeSection, PAGES_PER_OBJECT, type Page, type Section } from './page-section.ts';

/** The number of objects of one level that become one object of the next. */
const FAN_IN = 32;

/** Maximum total size of the stored objects that are combined, because clients need the server's memory. */
const MAX_INPUT_BYTES = 32 * 1024 * 1024;

/** Maximum total size of the pages that are merged, which are uncompressed in memory. */
const MAX_MERGED_BYTES = 128 * 1024 * 1024;

export interface MaintainedGeneration {
  readonly source: string;
  readonly generation: string;
  /** The number of its last copy. */
  readonly copies: number;
}

/**
 * Combines the objects of a generation, so that a restore reads few of them. Level 1 keeps every copy, in a section of
 * its own, so each second stays restorable; the single objects are deleted. Levels 2 and 3 keep only the newest version
 * of each page, beside the objects that they summarise. Every step can be repeated.
 */
export async function maintain(destination: Destination, generation: MaintainedGeneration): Promise<void> {
  await bundle(destination, generation);
  for (const level of [2, 3] as const)
    if (generation.copies % FAN_IN ** level < FAN_IN) await merge(destination, generation, level);
}

/** Bundles copies that are objects of their own, and deletes the objects. */
async function bundle(destination: Destination, generation: MaintainedGeneration): Promise<void> {
  const single = await listLevel(destination, generation, 0);
  for (const range of rangesOf(single, 1)) {
    // A copy that a killed server repeated exists twice; the chain continues from the later one.
    const copies = newestOfEach(range.sets);
    const whole = copies.length === FAN_IN && copies.every(({ first }, i) => first === range.first + i);
    if (whole && sizeOf(copies) <= MAX_INPUT_BYTES) {
      const content: Uint8Array[] = [];
      for (const { keys } of copies) for (const key of keys) content.push(await requireObject(destination, key));
      await destination.put(keyOf(generation, 1, copies), Buffer.concat(content));
    } else if (whole || !(await hasBundle(destination, generation, range))) continue;
    await destination.delete(range.sets.flatMap(({ keys }) => keys));
  }
}

/** A server was killed after it stored the bundle and before it deleted all objects. */
async function hasBundle(destination: Destination, generation: MaintainedGeneration, range: Range): Promise<boolean> {
  if (range.last > generation.copies) return false;
  const sets = await listLevel(destination, generation, 1, range.first);
  return sets.some(({ first, last }) => first === range.first && last === range.last);
}

/** Summarises objects of the level below. */
async function merge(destination: Destination, generation: MaintainedGeneration, level: 2 | 3): Promise<void> {
  const below = await listLevel(destination, generation, level === 2 ? 1 : 2);
  const done = new Set((await listLevel(destination, generation, level)).map(({ first }) => first));
  for (const { first, sets } of rangesOf(below, level)) {
    const copies = newestOfEach(sets);
    if (done.has(first) || copies.length < FAN_IN || sizeOf(copies) > MAX_INPUT_BYTES) continue;
    await mergeSets(destination, generation, level, copies);
  }
}

async function mergeSets(
  destination: Destination,
  generation: MaintainedGeneration,
  level: 2 | 3,
  copies: readonly CopySet[],
): Promise<void> {
  const pages = new Map<number, Page>();
  let start: Section['header'] | null = null;
  let end: Section['header'] | null = null;
  for (const { keys } of copies)
    for (const key of keys)
      for await (const { header, pages: changed } of decodeSections(key, await requireObject(destination, key))) {
        start ??= header;
        end = header;
        for (const page of changed) pages.set(page.number, page);
        if (pages.size * header.pageSizeBytes > MAX_MERGED_BYTES) return;
      }
  if (start === null || end === null) return;
  const { pageCount, pageSizeBytes, timeMs, watermark, after } = end;
  const sorted = [...pages.values()].filter(({ number }) => number <= pageCount).sort((a, b) => a.number - b.number);
  const parts = Math.max(1, Math.ceil(sorted.length / PAGES_PER_OBJECT));
  for (let part = 0; part < parts; part++) {
    const header = {
      ...{ first: start.first, last: end.last, part, parts, timeMs, watermark, pageSizeBytes, pageCount },
      before: start.before,
      after: part === parts - 1 ? after : null,
    };
    const content = sorted.slice(part * PAGES_PER_OBJECT, (part + 1) * PAGES_PER_OBJECT);
    await destination.put(copyKey({ ...generation, level, ...header }), await encodeSection(header, content));
  }
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly sets: CopySet[];
}

/** Groups sets by the object of `level` that will contain them. */
function rangesOf(sets: readonly CopySet[], level: 1 | 2 | 3): Range[] {
  const size = FAN_IN ** level;
  const ranges = new Map<number, Range>();
  for (const set of sets) {
    const first = Math.floor((set.first - 1) / size) * size + 1;
    const range = ranges.get(first) ?? { first, last: first + size - 1, sets: [] };
    range.sets.push(set);
    ranges.set(first, range);
  }
  return [...ranges.values()];
}

/** Returns the sets in order, and only the newest of several sets with the same copies. */
function newestOfEach(sets: readonly CopySet[]): CopySet[] {
  const newest = new Map<number, CopySet>();
  for (const set of sets) {
    const other = newest.get(set.first);
    if (other === undefined || other.timeMs < set.timeMs) newest.set(set.first, set);
  }
  return [...newest.values()].sort((a, b) => a.first - b.first);
}

async function listLevel(
  destination: Destination,
  { source, generation }: MaintainedGeneration,
  level: Exclude<Level, 'base'>,
  first?: number,
): Promise<readonly CopySet[]> {
  const suffix = first === undefined ? '' : `${String(first).padStart(10, '0')}-`;
  const objects: StoredObject[] = [];
  for await (const object of destination.list(`${sourcePrefix(source)}${generation}/${level}-${suffix}`))
    objects.push(object);
  return readCopies(objects).generations[0]?.copies ?? [];
}

function keyOf(generation: MaintainedGeneration, level: Level, copies: readonly CopySet[]): string {
  const [start, end] = [copies[0] as CopySet, copies.at(-1) as CopySet];
  return copyKey({ ...generation, level, first: start.first, last: end.last, timeMs: end.timeMs, part: 0, parts: 1 });
}

function sizeOf(sets: readonly CopySet[]): number {
  return sets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

async function requireObject(destination: Destination, key: string): Promise<Uint8Array> {
  const content = await destination.get(key);
  if (content === null) throw damaged(key, 'the object is missing');
  return content;
}
