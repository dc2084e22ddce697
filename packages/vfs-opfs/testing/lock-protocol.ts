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
/** Each in another extent, so that none is in a reader's pool because of another one. */
const PAGES = [1, 200, 400];
/** Longer than all that the others do; time passes only when nothing else can happen. */
const TIMEOUT_MS = 60_000;
const TUNING = {
  ...DEFAULT_TUNING,
  poolSizeBytes: 0,
  segmentGrowthBytes: 512,
  logPageBytes: PAGE_BYTES,
  flushWithinMs: Infinity,
};

/** Every commit stamps all pages with one number more than the one before, whoever makes it. */
interface Ledger {
  acknowledged: number;
  issued: number;
  readonly faults: string[];
}

/** What a worker does, in order. */
export type LockedWork = readonly ('commit' | 'checkpoint' | 'read')[];

/** A name that begins with `reader` reads; all others write. */
export type LockedCast = Readonly<Record<string, LockedWork>>;

/** Who takes part. */
export const LOCKED_CASTS: Readonly<
  Record<'two writers in turn' | 'a writer and a reader' | 'a writer, the next one, and a reader', LockedCast>
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

export interface LockedFindings {
  readonly schedules: number;
  readonly faults: readonly string[];
}

/**
 * Runs workers that open, work and close under every schedule within the bounds. Then, whoever died, a new writer must
 * open, find everything that was acknowledged, and find no lock left that holds up its WAL checkpoint. Until then no
 * reader may see a mixture, or less than was acknowledged, or be told to read again, since no limit was reached.
 */
export async function everyLockSchedule(cast: LockedCast, bounds: ScheduleBounds): Promise<LockedFindings> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const faults = new Set<string>();
  try {
    const schedules = await everySchedule(1_000_000, async (choose) => {
      const ledger: Ledger = { acknowledged: 0, issued: 0, faults: [] };
      const workers = new ScheduledWorkers(choose, bounds);
      for (const [name, work] of Object.entries(cast))
        workers.add(name, (worker) =>
          name.startsWith('reader') ? read(worker, work, ledger) : write(worker, work, ledger),
        );
      await workers.run().catch((error: unknown) => ledger.faults.push(String(error)));
      workers.disk.observer = undefined;
      await lookAfterwards(workers, ledger);
      for (const fault of [...workers.failures, ...ledger.faults]) faults.add(fault);
      vi.clearAllTimers();
    });
    return { schedules, faults: [...faults] };
  } finally {
    vi.useRealTimers();
  }
}

async function write(worker: ScheduledWorker, work: LockedWork, ledger: Ledger): Promise<void> {
  const writer = await open(worker, 'writer');
  for (const task of work) {
    if (task === 'checkpoint') await writer.checkpoint(TIMEOUT_MS);
    else commit(writer, ledger);
  }
  await writer.close();
}

async function read(worker: ScheduledWorker, work: LockedWork, ledger: Ledger): Promise<void> {
  const reader = await open(worker, 'reader').catch((error: unknown) => {
    // Whoever would have made the database may have died before.
    if (error instanceof StorageError && error.code === 'storage-missing' && ledger.acknowledged === 0)
      return undefined;
    throw error;
  });
  for (const _ of reader === undefined ? [] : work) await readOnce(reader!, worker, ledger);
  await reader?.close();
}

/** One read transaction, in whose middle the others may go on. */
async function readOnce({ store }: OpenedStore, { name, medium }: ScheduledWorker, ledger: Ledger): Promise<void> {
  const atLeast = ledger.acknowledged;
  store.beginRead();
  const [first] = stampsOf(store, PAGES.slice(0, 1));
  await medium.open('no such file', false);
  const stamps = [first!, ...stampsOf(store, PAGES.slice(1))];
  store.endRead();
  if (new Set(stamps).size !== 1) ledger.faults.push(`${name} sees a mixture: ${stamps.join(' ')}`);
  if (first! < atLeast) ledger.faults.push(`${name} sees commit ${first!} where ${atLeast} was acknowledged`);
}

function open({ medium }: ScheduledWorker, role: 'writer' | 'reader'): Promise<OpenedStore> {
  const options = { name: NAME, medium, timeoutMs: TIMEOUT_MS, tuning: TUNING, onError: () => undefined };
  return role === 'reader'
    ? openReader(options)
    : openWriter({ ...options, pageSizeBytes: PAGE_BYTES, isStrict: false });
}

function commit({ store }: OpenedStore, ledger: Ledger): void {
  const stamp = stampsOf(store)[0]! + 1;
  if (stamp <= ledger.issued && stamp <= ledger.acknowledged) ledger.faults.push(`commit ${stamp} was made twice`);
  ledger.issued = Math.max(ledger.issued, stamp);
  for (const page of PAGES) store.write(pageOf(stamp, page), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  store.commit();
  ledger.acknowledged = stamp;
}

async function lookAfterwards({ disk }: ScheduledWorkers, ledger: Ledger): Promise<void> {
  const medium = disk.medium();
  // On a clock that stands still, a lock that is not free is never granted.
  const writer = await openWriter({
    name: NAME,
    medium,
    timeoutMs: 0,
    pageSizeBytes: PAGE_BYTES,
    tuning: TUNING,
    isStrict: false,
    onError: () => undefined,
  }).catch((error: unknown) => {
    ledger.faults.push(`opening afterwards: ${String(error)}`);
  });
  if (writer === undefined) return;
  const stamps = stampsOf(writer.store);
  if (new Set(stamps).size !== 1) ledger.faults.push(`a mixture is stored: ${stamps.join(' ')}`);
  if (stamps[0]! < ledger.acknowledged)
    ledger.faults.push(`commit ${ledger.acknowledged} was acknowledged, ${stamps[0]!} is stored`);
  if (!(await writer.checkpoint(0))) ledger.faults.push('a lock is left that nobody holds');
  await writer.close();
}

/** A database that is empty has stamps of 0. */
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
