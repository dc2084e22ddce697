import { vi } from 'vitest';
import { openReader } from '../src/open-reader.ts';
import { openWriter } from '../src/open-writer.ts';
import type { OpenedStore } from '../src/opened-store.ts';
import { StorageError } from '../src/storage-error.ts';
import { DEFAULT_TUNING } from '../src/tuning.ts';
import { everySchedule } from './every-schedule.ts';
import { ScheduledWorkers } from './scheduled-workers.ts';
import type { ScheduleBounds, ScheduledWorker } from './scheduled-workers.ts';

const NAME = 'locked';
const PAGE_BYTES = 512;
/** Each page is in a different extent, so that reading one page puts no other page into a reader's pool. */
const PAGES = [1, 200, 400];
/** Longer than everything else in a run. Time passes only when no other event is possible. */
const TIMEOUT_MS = 60_000;
const TUNING = {
  ...DEFAULT_TUNING,
  poolSizeBytes: 0,
  segmentGrowthBytes: 512,
  logPageBytes: PAGE_BYTES,
  flushWithinMs: Infinity,
};

/** Every commit of any worker stamps all pages with the next number. */
interface CommitRecord {
  acknowledged: number;
  issued: number;
  readonly faults: string[];
}

/** The operations of a worker, in order. */
export type WorkerOperations = readonly ('commit' | 'checkpoint' | 'read')[];

/** Workers with a name that begins with `reader` read; all others write. */
export type LockScenario = Readonly<Record<string, WorkerOperations>>;

/** The workers of each scenario. */
export const LOCK_SCENARIOS: Readonly<
  Record<'two writers in turn' | 'a writer and a reader' | 'a writer, the next one, and a reader', LockScenario>
> = {
  'two writers in turn': { first: ['commit', 'checkpoint', 'commit'], second: ['commit', 'checkpoint'] },
  'a writer and a reader': {
    writer: ['commit', 'checkpoint', 'commit', 'checkpoint', 'commit'],
    reader: ['read', 'read', 'read'],
  },
  'a writer, the next one, and a reader': {
    first: ['commit', 'checkpoint', 'commit'],
    second: ['commit', 'checkpoint'],
    reader: ['read', 'read'],
  },
};

export interface LockFindings {
  readonly schedules: number;
  readonly faults: readonly string[];
}

/**
 * Runs workers that open, work and close under every schedule within the bounds. No reader may see pages of different
 * commits, miss an acknowledged commit, or have to read again, because no limit is reached. Afterwards, whichever
 * workers died, a new writer must open, find everything acknowledged, and find no lock that blocks its WAL checkpoint.
 */
export async function everyLockSchedule(scenario: LockScenario, bounds: ScheduleBounds): Promise<LockFindings> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const faults = new Set<string>();
  try {
    const schedules = await everySchedule(1_000_000, async (choose) => {
      const record: CommitRecord = { acknowledged: 0, issued: 0, faults: [] };
      const workers = new ScheduledWorkers(choose, bounds);
      for (const [name, work] of Object.entries(scenario))
        workers.add(name, (worker) =>
          name.startsWith('reader') ? read(worker, work, record) : write(worker, work, record),
        );
      await workers.run().catch((error: unknown) => record.faults.push(String(error)));
      workers.disk.observer = undefined;
      await checkAfterwards(workers, record);
      for (const fault of [...workers.failures, ...record.faults]) faults.add(fault);
      vi.clearAllTimers();
    });
    return { schedules, faults: [...faults] };
  } finally {
    vi.useRealTimers();
  }
}

async function write(worker: ScheduledWorker, work: WorkerOperations, record: CommitRecord): Promise<void> {
  const writer = await open(worker, 'writer');
  for (const task of work) {
    if (task === 'checkpoint') await writer.checkpoint(TIMEOUT_MS);
    else commit(writer, record);
  }
  await writer.close();
}

async function read(worker: ScheduledWorker, work: WorkerOperations, record: CommitRecord): Promise<void> {
  const reader = await open(worker, 'reader').catch((error: unknown) => {
    // The worker that would have created the database may have died.
    if (error instanceof StorageError && error.code === 'storage-missing' && record.acknowledged === 0)
      return undefined;
    throw error;
  });
  for (const _ of reader === undefined ? [] : work) await readOnce(reader!, worker, record);
  await reader?.close();
}

/** Runs one read transaction, during which the other workers may act. */
async function readOnce(
  { store }: OpenedStore,
  { name, medium }: ScheduledWorker,
  record: CommitRecord,
): Promise<void> {
  const atLeast = record.acknowledged;
  store.beginRead();
  const [first] = stampsOf(store, PAGES.slice(0, 1));
  await medium.open('no such file', false);
  const stamps = [first!, ...stampsOf(store, PAGES.slice(1))];
  store.endRead();
  if (new Set(stamps).size !== 1) record.faults.push(`${name} read pages of different commits: ${stamps.join(' ')}`);
  if (first! < atLeast) record.faults.push(`${name} read commit ${first!} although ${atLeast} was acknowledged`);
}

function open({ medium }: ScheduledWorker, role: 'writer' | 'reader'): Promise<OpenedStore> {
  const options = { name: NAME, medium, timeoutMs: TIMEOUT_MS, tuning: TUNING, onError: () => undefined };
  return role === 'reader'
    ? openReader(options)
    : openWriter({ ...options, pageSizeBytes: PAGE_BYTES, isStrict: false });
}

function commit({ store }: OpenedStore, record: CommitRecord): void {
  const stamp = stampsOf(store)[0]! + 1;
  if (stamp <= record.issued && stamp <= record.acknowledged) record.faults.push(`commit ${stamp} was made twice`);
  record.issued = Math.max(record.issued, stamp);
  for (const page of PAGES) store.write(pageOf(stamp, page), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  store.commit();
  record.acknowledged = stamp;
}

async function checkAfterwards({ disk }: ScheduledWorkers, record: CommitRecord): Promise<void> {
  const medium = disk.medium();
  // No time passes here, so a lock that is not free is never granted.
  const writer = await openWriter({
    name: NAME,
    medium,
    timeoutMs: 0,
    pageSizeBytes: PAGE_BYTES,
    tuning: TUNING,
    isStrict: false,
    onError: () => undefined,
  }).catch((error: unknown) => {
    record.faults.push(`opening afterwards: ${String(error)}`);
  });
  if (writer === undefined) return;
  const stamps = stampsOf(writer.store);
  if (new Set(stamps).size !== 1) record.faults.push(`pages of different commits are stored: ${stamps.join(' ')}`);
  if (stamps[0]! < record.acknowledged)
    record.faults.push(`commit ${record.acknowledged} was acknowledged, but ${stamps[0]!} is stored`);
  if (!(await writer.checkpoint(0))) record.faults.push('an abandoned lock remains');
  await writer.close();
}

/** An empty database has stamps of 0. */
function stampsOf(store: OpenedStore['store'], pages: readonly number[] = PAGES): number[] {
  const bytes = new Uint8Array(PAGE_BYTES);
  return pages.map((page) => {
    bytes.fill(0);
    store.read(bytes, 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
    return new DataView(bytes.buffer).getUint32(PAGE_BYTES - 4);
  });
}

function pageOf(stamp: number, page: number): Uint8Array {
  const bytes = new Uint8Array(PAGE_BYTES);
  if (page === 1) {
    bytes.set(new TextEncoder().encode('SQLite format 3\0'));
    new DataView(bytes.buffer).setUint16(16, PAGE_BYTES);
  }
  new DataView(bytes.buffer).setUint32(PAGE_BYTES - 4, stamp);
  return bytes;
}
