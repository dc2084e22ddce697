import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { pageSum } from '../sqlite/page-sums.ts';
import { writeWhole } from '../sqlite/write-whole.ts';
import type { Destination } from './destination.ts';
import { damaged, decodeSections, type Section } from './page-section.ts';
import type { RestorePlan } from './restore-plan.ts';
import { StateSum } from './state-sum.ts';

/** The maximum number of objects that are fetched in parallel, because each request takes some tens of milliseconds. */
const FETCHED_AHEAD = 8;

const PAGES_PER_READ = 256;

/** The result of a fetch. */
export interface FetchedPages {
  /** The time of the newest commit in the fetched file, ms since 1970. */
  readonly timeMs: number;
  readonly watermark: number | null;
  readonly pageSizeBytes: number;
  readonly pageCount: number;
  readonly stateSum: string;
  /** The last copy in the fetched file. */
  readonly copies: number;
}

export interface FetchOptions {
  readonly atMs: number;
  readonly onProgress?: (fetchedBytes: number, totalBytes: number) => void;
}

/** Where an interrupted fetch continues. */
interface Progress {
  readonly generation: string;
  readonly atMs: number;
  /**
   * The last object that was applied. Not a number of objects: a server that still copies combines small objects into
   * larger ones, so that the next plan has fewer.
   */
  readonly key: string;
  readonly reached: FetchedPages | null;
}

/**
 * Writes the pages of a plan to a file, and compares all of them with the state sum of the last copy. After an
 * interruption, the same call continues. Throws `backup-unavailable`, or `backup-damaged`, which names the latest
 * moment that can be restored without the damaged object (`restorableUntil`).
 */
export async function fetchPages(
  destination: Destination,
  plan: RestorePlan,
  path: string,
  options: FetchOptions,
): Promise<FetchedPages> {
  try {
    return await fetchAll(destination, plan, path, options);
  } catch (error) {
    if (!(error instanceof RockpoolError && error.code === 'backup-damaged')) throw error;
    const untilMs = restorableBefore(plan, error.fields['object']);
    if (untilMs === null) throw error;
    const fields = { ...error.fields, restorableUntil: new Date(untilMs).toISOString() };
    throw new RockpoolError('backup-damaged', fields, { cause: error.cause });
  }
}

async function fetchAll(
  destination: Destination,
  plan: RestorePlan,
  path: string,
  { atMs, onProgress = () => undefined }: FetchOptions,
): Promise<FetchedPages> {
  const keys = plan.sets.flatMap(({ keys }) => keys);
  const progressPath = `${path}.progress`;
  const known = statSync(path, { throwIfNoEntry: false }) && readProgress(progressPath, plan.generation, atMs);
  const done = keys.indexOf(known?.key ?? '') + 1;
  let reached = done === 0 ? null : (known?.reached ?? null);
  // A restore that was interrupted after its last fetch has begun to write to the file.
  if (done === 0) for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  const descriptor = openSync(path, done === 0 ? 'w+' : 'r+');
  try {
    let fetchedBytes = 0;
    for await (const { key, bytes } of objectsOf(destination, keys.slice(done))) {
      for await (const section of decodeSections(key, bytes)) {
        if (section.header.timeMs > atMs) break;
        reached = apply(descriptor, key, section, reached);
      }
      writeProgress(progressPath, { generation: plan.generation, atMs, key, reached });
      onProgress((fetchedBytes += bytes.length), plan.sizeBytes);
    }
    if (reached === null) throw damaged(keys[0] ?? '', 'the base is missing');
    ftruncateSync(descriptor, reached.pageCount * reached.pageSizeBytes);
    fsyncSync(descriptor);
    if (sumOfFile(descriptor, reached) !== reached.stateSum) {
      // The part that was fetched cannot be continued.
      rmSync(progressPath, { force: true });
      throw damaged(keys.at(-1) ?? '', 'the pages do not match their total checksum');
    }
  } finally {
    closeSync(descriptor);
  }
  rmSync(progressPath, { force: true });
  return reached;
}

/** Null if no moment of the generation can be restored without the object. */
function restorableBefore({ sets }: RestorePlan, key: unknown): number | null {
  const index = sets.findIndex(({ keys }) => keys.some((one) => one === key));
  const [previous, found] = [sets[index - 1], sets[index]];
  if (previous === undefined || found === undefined) return null;
  // The copies that a merged object summarises are stored beside it too.
  if (found.level === 2 || found.level === 3) return found.timeMs - 1;
  if (found.level !== 1) return previous.timeMs;
  // A restore to the end of the set before a bundle reads the bundle too: its first copies may be from that moment.
  return previous.level === 'base' ? null : previous.timeMs - 1;
}

async function* objectsOf(
  destination: Destination,
  keys: readonly string[],
): AsyncGenerator<{ readonly key: string; readonly bytes: Uint8Array }> {
  const ahead: Promise<Uint8Array | null>[] = [];
  for (const [i, key] of keys.entries()) {
    while (ahead.length < FETCHED_AHEAD && i + ahead.length < keys.length) {
      const fetching = destination.get(keys[i + ahead.length] as string);
      // An object that is fetched ahead may fail before it is awaited.
      fetching.catch(() => undefined);
      ahead.push(fetching);
    }
    const bytes = (await ahead.shift()) ?? null;
    if (bytes === null) throw damaged(key, 'the object is missing');
    yield { key, bytes };
  }
}

/** Writes the pages of a section, which must directly follow the previous section. */
function apply(
  descriptor: number,
  key: string,
  { header, pages }: Section,
  reached: FetchedPages | null,
): FetchedPages {
  const { part, before, first, last, pageSizeBytes, pageCount, timeMs, watermark, after } = header;
  if (part === 0 && before !== (reached?.stateSum ?? new StateSum().toHex()))
    throw damaged(key, 'the copy does not follow the one before it');
  if (part === 0 && reached !== null && first !== reached.copies + 1)
    throw damaged(key, `copies before ${first} are missing`);
  for (const { number, content } of pages) writeWhole(descriptor, content, (number - 1) * pageSizeBytes);
  // Only the last part contains the sum.
  const stateSum = after ?? reached?.stateSum ?? '';
  return { timeMs, watermark, pageSizeBytes, pageCount, stateSum, copies: last };
}

function sumOfFile(descriptor: number, { pageSizeBytes, pageCount }: FetchedPages): string {
  const sum = new StateSum();
  const slice = Buffer.alloc(PAGES_PER_READ * pageSizeBytes);
  for (let done = 0; done < pageCount; done += PAGES_PER_READ) {
    const count = Math.min(PAGES_PER_READ, pageCount - done);
    readSync(descriptor, slice, 0, count * pageSizeBytes, done * pageSizeBytes);
    for (let i = 0; i < count; i++)
      sum.toggle(done + i + 1, pageSum(slice.subarray(i * pageSizeBytes, (i + 1) * pageSizeBytes)));
  }
  return sum.toHex();
}

/** Null if there is no progress, or a power cut has damaged it. */
function readProgress(path: string, generation: string, atMs: number): Progress | null {
  try {
    const progress = JSON.parse(readFileSync(path, 'utf8')) as Progress;
    return progress.generation === generation && progress.atMs === atMs ? progress : null;
  } catch {
    return null;
  }
}

function writeProgress(path: string, progress: Progress): void {
  writeFileSync(`${path}.new`, JSON.stringify(progress));
  renameSync(`${path}.new`, path);
}
