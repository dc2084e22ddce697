import { openWriter } from '../src/open-writer.ts';
import { DEFAULT_TUNING } from '../src/tuning.ts';
import { SQLITE_HEADER_BYTES } from '../src/sqlite-file-header.ts';
import type { DiskCall } from './disk-call.ts';
import { SimulatedDisk } from './simulated-disk.ts';

export const STAMPED_NAME = 'stamped';
export const STAMPED_PAGE_BYTES = 8192;
/** A record holds two pages, so a transaction of three pages takes two records. */
const RECORD_BYTES = 2 * STAMPED_PAGE_BYTES + 4096;

/** One transaction: it stamps its number on these pages, after which the database has `pageCount` pages. */
export interface StampedTransaction {
  readonly pages: readonly number[];
  readonly pageCount: number;
}

/** A step of a writer's run. */
export type StampedStep = StampedTransaction | 'checkpoint';

/** Two extents of 64 KB. */
const ALL_PAGES = Array.from({ length: 16 }, (_, index) => index + 1);
export const FIRST: StampedStep = { pages: ALL_PAGES, pageCount: 16 };
export const SMALL: StampedStep = { pages: [1, 2], pageCount: 16 };
export const LARGE: StampedStep = { pages: [1, 3, 12], pageCount: 16 };
const SHRINKS: StampedStep = { pages: [1, 12], pageCount: 12 };
const GROWS: StampedStep = { pages: [1, 12, 13, 14, 15, 16], pageCount: 16 };

/** Runs of a writer that pass through every state of the log. */
export const STAMPED_RUNS: readonly { readonly title: string; readonly steps: readonly StampedStep[] }[] = [
  { title: 'commits of one record and of several', steps: [FIRST, SMALL, LARGE, SMALL] },
  { title: 'a WAL checkpoint between commits', steps: [FIRST, 'checkpoint', SMALL, 'checkpoint', LARGE] },
  {
    title: 'segments that are used again',
    steps: [FIRST, 'checkpoint', SMALL, 'checkpoint', LARGE, 'checkpoint', SMALL],
  },
  {
    title: 'a database that shrinks and grows',
    steps: [FIRST, 'checkpoint', SHRINKS, 'checkpoint', GROWS, 'checkpoint'],
  },
];

/**
 * The disk calls of a writer, and for each transaction the number of calls after which it was acknowledged, with the
 * stamps of all pages at that time.
 */
export interface StampedRun {
  readonly calls: readonly DiskCall[];
  readonly acknowledged: readonly { readonly callCount: number; readonly stamps: readonly number[] }[];
}

/** Runs the production writer without SQLite. A page contains only the number of the transaction that wrote it last. */
export async function runStampedWriter(steps: readonly StampedStep[]): Promise<StampedRun> {
  const disk = new SimulatedDisk({ keepCalls: true });
  const writer = await openWriter({
    name: STAMPED_NAME,
    medium: disk.medium(),
    pageSizeBytes: STAMPED_PAGE_BYTES,
    timeoutMs: 1000,
    tuning: {
      ...DEFAULT_TUNING,
      recordSizeBytes: RECORD_BYTES,
      segmentGrowthBytes: 4096,
      logPageBytes: STAMPED_PAGE_BYTES,
      flushWithinMs: Infinity,
    },
    isStrict: false,
    onError: (error) => {
      throw error;
    },
  });
  const acknowledged: { callCount: number; stamps: number[] }[] = [];
  let stamps: number[] = [];
  for (const step of steps) {
    if (step === 'checkpoint') {
      await writer.checkpoint(1000);
      continue;
    }
    const number = acknowledged.length + 1;
    stamps = Array.from({ length: step.pageCount }, (_, index) =>
      step.pages.includes(index + 1) ? number : stamps[index]!,
    );
    for (const page of step.pages)
      writer.store.write(
        stampedPage(number, page, step.pageCount),
        0,
        STAMPED_PAGE_BYTES,
        (page - 1) * STAMPED_PAGE_BYTES,
      );
    writer.store.truncate(step.pageCount * STAMPED_PAGE_BYTES);
    writer.store.commit();
    acknowledged.push({ callCount: disk.callCount, stamps: [...stamps] });
  }
  const calls = [...disk.calls];
  await writer.close();
  return { calls, acknowledged };
}

/** Every word of the page is the stamp, except SQLite's header on the first page. */
function stampedPage(number: number, page: number, pageCount: number): Uint8Array {
  const words = new Uint32Array(STAMPED_PAGE_BYTES / 4).fill(number);
  const bytes = new Uint8Array(words.buffer);
  if (page > 1) return bytes;
  bytes.fill(0, 0, SQLITE_HEADER_BYTES);
  bytes.set(new TextEncoder().encode('SQLite format 3\0'));
  new DataView(bytes.buffer).setUint16(16, STAMPED_PAGE_BYTES);
  new DataView(bytes.buffer).setUint32(28, pageCount);
  return bytes;
}

/** Returns the stamp of a page, or `undefined` when it is torn. */
export function stampOf(page: Uint8Array): number | undefined {
  const words = new Uint32Array(page.buffer, page.byteOffset, page.length / 4);
  const stamp = words[words.length - 1];
  for (let index = SQLITE_HEADER_BYTES / 4; index < words.length; index += 1)
    if (words[index] !== stamp) return undefined;
  return stamp;
}
