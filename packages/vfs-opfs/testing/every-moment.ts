import { openReader } from '../src/open-reader.ts';
import type { OpenedStore } from '../src/opened-store.ts';
import { StorageError } from '../src/storage-error.ts';
import { DEFAULT_TUNING } from '../src/tuning.ts';
import { CallTimeline } from './call-timeline.ts';
import type { TimelineReader } from './call-timeline.ts';
import { everySchedule } from './every-schedule.ts';
import { STAMPED_NAME, STAMPED_PAGE_BYTES, stampOf } from './stamped-writer.ts';
import type { StampedRun } from './stamped-writer.ts';

/** The smallest pool, which holds the whole database and never reads ahead. */
const TUNING = { ...DEFAULT_TUNING, poolSizeBytes: 0 };

/** The results of the readers at all moments together. */
export interface Findings {
  schedules: number;
  reads: number;
  revoked: number;
  readonly faults: Set<string>;
}

/**
 * When the writer moves: while the reader opens; in the reader's first read transaction, with an empty pool; or in the
 * second, with a pool that must be kept up to date.
 */
type Phase = 'opening' | 'first-read' | 'second-read';
const PHASES: readonly Phase[] = ['opening', 'first-read', 'second-read'];

/**
 * Runs the production code of a reader at every moment of a run of the production writer: the reader opens at every
 * moment of the run and makes two read transactions, and in one of the three phases the writer moves by any number of
 * steps before up to `moves` of the reads. Locks and signals have no effect here, so the results hold even if they are
 * lost. Stops after the first reader with a fault that `isEnough` accepts; default: after the last reader.
 */
export async function readAtEveryMoment(
  { calls, acknowledged }: StampedRun,
  moves: number,
  isEnough: (fault: string) => boolean = () => false,
): Promise<Findings> {
  const timeline = new CallTimeline(calls);
  const findings: Findings = { schedules: 0, reads: 0, revoked: 0, faults: new Set() };
  const first = timeline.steps.findIndex(({ callCount }) => callCount >= acknowledged[0]!.callCount) + 1;
  for (let start = first; start <= timeline.steps.length; start += 1) {
    for (const phase of PHASES) {
      findings.schedules += await everySchedule(
        1_000_000,
        (choose) => readTwice(timeline, acknowledged, timeline.reader(choose, start), phase, moves, findings),
        () => [...findings.faults].some(isEnough),
      );
      if ([...findings.faults].some(isEnough)) return findings;
    }
  }
  return findings;
}

async function readTwice(
  timeline: CallTimeline,
  acknowledged: StampedRun['acknowledged'],
  place: TimelineReader,
  phase: Phase,
  moves: number,
  findings: Findings,
): Promise<void> {
  let reader: OpenedStore;
  try {
    place.movesLeft = phase === 'opening' ? moves : 0;
    reader = await openReader({
      name: STAMPED_NAME,
      medium: place.medium,
      timeoutMs: 0,
      tuning: TUNING,
      onError: () => undefined,
    });
  } catch (error) {
    // The log changed while it was read. A reader retries until its timeout, which is zero here.
    if (error instanceof StorageError && error.code === 'storage-missing') return;
    throw error;
  }
  let atLeast = 0;
  for (const read of ['first-read', 'second-read'] as const) {
    place.movesLeft = phase === read ? moves : 0;
    const { callCount } = timeline.steps[place.position - 1]!;
    atLeast = Math.max(atLeast, acknowledged.filter((transaction) => transaction.callCount <= callCount).length);
    try {
      reader.store.beginRead();
      const stamps = readStamps(reader).join(' ');
      findings.reads += 1;
      const snapshot = acknowledged.findLastIndex((transaction) => transaction.stamps.join(' ') === stamps) + 1;
      if (snapshot === 0) findings.faults.add(`the pages belong to different commits: ${stamps}`);
      else if (snapshot < atLeast)
        findings.faults.add(`read transaction ${snapshot} although ${atLeast} was acknowledged or read before`);
      atLeast = Math.max(atLeast, snapshot);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'storage-snapshot-lost') findings.revoked += 1;
      else findings.faults.add(String(error));
    } finally {
      reader.store.endRead();
    }
  }
  await reader.close();
}

function readStamps({ store }: OpenedStore): (number | undefined)[] {
  const page = new Uint8Array(STAMPED_PAGE_BYTES);
  return Array.from({ length: store.sizeBytes() / STAMPED_PAGE_BYTES }, (_, index) => {
    store.read(page, 0, page.length, index * STAMPED_PAGE_BYTES);
    return stampOf(page);
  });
}
