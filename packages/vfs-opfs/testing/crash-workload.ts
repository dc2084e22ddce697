import { openStorage } from '../src/open-storage.ts';
import type { Durability, Storage } from '../src/storage.ts';
import type { Tuning } from '../src/tuning.ts';
import type { CrashImage } from './crash-images.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { TestConnection } from './test-connection.ts';
import type { TestModule } from './test-connection.ts';

/**
 * Small enough that a few dozen transactions include records of several parts, several generations and WAL checkpoints.
 */
export const SMALL_TUNING: Partial<Tuning> = {
  poolSizeBytes: 4 * 65536,
  checkpointAfterBytes: 24 * 1024,
  recordSizeBytes: 8 * 1024,
  logPageBytes: 512,
  segmentGrowthBytes: 4 * 1024,
  flushWithinMs: Infinity,
};

const NAME = 'crash';
const LOG_PAGE_SIZE_BYTES = 1024;
const ACCOUNTS = 12;
const TOTAL = ACCOUNTS * 1000;
const EMPTY: Earlier = { acknowledged: 0, issued: 0 };

/** Transaction `number` began after `from` disk calls and was acknowledged after `to` calls. */
interface Acknowledged {
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** What a disk holds before a workload. */
interface Earlier {
  /** Number of the last transaction that was acknowledged. */
  readonly acknowledged: number;
  /** Number of the last transaction on the disk. */
  readonly issued: number;
}

export interface Workload {
  readonly durability: Durability;
  readonly earlier: Earlier;
  readonly transactions: readonly Acknowledged[];
  /** After `calls` disk calls, a flush that covered all transactions up to `number` had returned. */
  readonly flushes: readonly { readonly calls: number; readonly number: number }[];
}

export interface WorkloadOptions {
  readonly durability: Durability;
  /** How many transactions to run. */
  readonly count: number;
  /**
   * The page size of SQLite. It may be larger than the log's, as it is after a VACUUM that changes the page size.
   * Default 1024.
   */
  readonly pageSizeBytes?: number;
  /** Default: an empty disk. */
  readonly earlier?: Earlier;
  /** Whether there are flushes and WAL checkpoints besides those that the storage needs by itself. Default true. */
  readonly requestsFlushes?: boolean;
}

/**
 * Runs transactions of many shapes on a disk, with one writer and WAL checkpoints in between, and records when each was
 * acknowledged.
 */
export async function runWorkload(
  disk: SimulatedDisk,
  module: TestModule,
  { durability, count, pageSizeBytes = LOG_PAGE_SIZE_BYTES, earlier = EMPTY, requestsFlushes = true }: WorkloadOptions,
): Promise<Workload> {
  const storage = await openCrashStorage(disk, durability);
  const connection = new TestConnection(module, storage);
  const transactions: Acknowledged[] = [];
  const flushes: { calls: number; number: number }[] = [];
  for (let number = earlier.issued + 1; number <= earlier.issued + count; number += 1) {
    const from = disk.callCount;
    connection.run(transactionSql(number, pageSizeBytes));
    transactions.push({ number, from, to: disk.callCount });
    if (requestsFlushes && number % 7 === 3) {
      storage.flush();
      flushes.push({ calls: disk.callCount, number });
    }
    if (requestsFlushes && number % 11 === 5) await storage.checkpoint();
    // Lets background WAL checkpoints run.
    else if (number % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  connection.close();
  await storage.close();
  return { durability, earlier, transactions, flushes };
}

export function openCrashStorage(disk: SimulatedDisk, durability: Durability): Promise<Storage> {
  return openStorage({
    name: NAME,
    medium: disk.medium(),
    role: 'writer',
    durability,
    pageSizeBytes: LOG_PAGE_SIZE_BYTES,
    tuning: SMALL_TUNING,
  });
}

/**
 * Recovers an image and returns the fault in it, or `undefined`. In a correct image SQLite's own check passes, the
 * transactions are 1 to n without a gap and with their whole content, and acknowledged ≤ n ≤ issued.
 */
export async function findFault(
  image: CrashImage,
  workload: Workload,
  module: TestModule,
  goesOn: boolean,
): Promise<string | undefined> {
  return findFaultOnDisk(image.restore(), image, workload, module, goesOn);
}

/** Like `findFault`, for a disk that has been used since the crash. */
export async function findFaultOnDisk(
  disk: SimulatedDisk,
  image: CrashImage,
  workload: Workload,
  module: TestModule,
  goesOn: boolean,
): Promise<string | undefined> {
  const [atLeast, atMost] = bounds(image, workload);
  let recovered = 0;
  const fault = await onStorage(disk, workload.durability, module, (connection) => {
    const found = contentFault(connection, atLeast, atMost);
    if (found !== undefined || !goesOn) return found;
    // Writes made after a recovery must survive the next one.
    recovered = lastTransaction(connection);
    for (const number of [recovered + 1, recovered + 2]) connection.run(transactionSql(number, LOG_PAGE_SIZE_BYTES));
    return undefined;
  });
  if (fault !== undefined || !goesOn) return fault;
  const laterFault = await onStorage(disk, workload.durability, module, (connection) =>
    contentFault(connection, recovered + 2, recovered + 2),
  );
  return laterFault === undefined ? undefined : `after further use: ${laterFault}`;
}

/** Recovers a disk and returns the number of the last transaction on it. */
export function lastOnDisk(disk: SimulatedDisk, durability: Durability, module: TestModule): Promise<number> {
  return onStorage(disk, durability, module, lastTransaction);
}

/** Opens, uses and closes a storage. Without closing, thousands of them would stay in memory. */
async function onStorage<T>(
  disk: SimulatedDisk,
  durability: Durability,
  module: TestModule,
  use: (connection: TestConnection) => T,
): Promise<T> {
  const storage = await openCrashStorage(disk, durability);
  const connection = new TestConnection(module, storage);
  try {
    return use(connection);
  } finally {
    connection.close();
    await storage.close();
  }
}

/**
 * The least and the greatest number that the last transaction of an image may have. A kill keeps all acknowledged
 * commits. A power cut keeps all flushed commits, which with `strict` are the same.
 */
export function bounds(image: CrashImage, workload: Workload): readonly [number, number] {
  const { transactions, flushes, durability, earlier } = workload;
  const acknowledged =
    transactions.findLast((transaction) => transaction.to <= image.callCount)?.number ?? earlier.acknowledged;
  const flushed = flushes.findLast((flush) => flush.calls <= image.callCount)?.number ?? 0;
  const issued = transactions.findLast((transaction) => transaction.from < image.callCount)?.number ?? earlier.issued;
  return [durability === 'strict' || image.survivors === 'everything' ? acknowledged : flushed, issued];
}

function contentFault(connection: TestConnection, atLeast: number, atMost: number): string | undefined {
  const check = connection.value('PRAGMA integrity_check');
  if (check !== 'ok') return `integrity_check: ${String(check)}`;
  const last = lastTransaction(connection);
  if (last < atLeast) return `transaction ${atLeast} was acknowledged, but the last stored one is ${last}`;
  if (last > atMost) return `transaction ${last} is stored, but the last one that was issued is ${atMost}`;
  if (last === 0) return undefined;
  const [rows, wrong] = connection.run(
    'SELECT count(*), sum(length(payload) <> (number * 37) % 900 + 1) FROM history',
  )[0]!;
  if (rows !== last) return `${String(rows)} of ${last} transactions are stored`;
  if (wrong !== 0) return `${String(wrong)} payloads differ`;
  const total = connection.value('SELECT sum(amount) FROM account');
  if (total !== TOTAL) return `a transaction is incomplete: the accounts hold ${String(total)}`;
  const filler = connection.value('SELECT count(*) FROM filler');
  return filler === fillerAfter(last)
    ? undefined
    : `there are ${String(filler)} rows of filler instead of ${fillerAfter(last)}`;
}

function lastTransaction(connection: TestConnection): number {
  if (connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'history'") === 0) return 0;
  return Number(connection.value('SELECT coalesce(max(number), 0) FROM history'));
}

const FILLER_ROWS = 40;

/**
 * Every ninth transaction fills a table over many pages; five transactions later another one empties it and frees the
 * space.
 */
function fillerAfter(number: number): number {
  return number % 9 >= 4 ? FILLER_ROWS : 0;
}

/** The SQL of transaction `number`. Its content depends on the number alone. */
function transactionSql(number: number, pageSizeBytes: number): string {
  const schema =
    number === 1
      ? `PRAGMA page_size = ${pageSizeBytes}; PRAGMA auto_vacuum = FULL; BEGIN;
         CREATE TABLE history(number INTEGER PRIMARY KEY, payload TEXT);
         CREATE TABLE account(id INTEGER PRIMARY KEY, amount INTEGER);
         CREATE TABLE filler(id INTEGER PRIMARY KEY, content TEXT);
         CREATE INDEX by_payload ON history(payload);
         INSERT INTO account SELECT value, 1000 FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${ACCOUNTS}) SELECT value FROM n);`
      : 'BEGIN;';
  const from = (number % ACCOUNTS) + 1;
  const to = ((number * 5 + 3) % ACCOUNTS) + 1;
  const filler =
    number % 9 === 4
      ? `INSERT INTO filler SELECT value, printf('%.*c', 700, 'f') FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${FILLER_ROWS}) SELECT value FROM n);`
      : number % 9 === 0
        ? 'DELETE FROM filler;'
        : '';
  return `${schema}
    UPDATE account SET amount = amount - ${number} WHERE id = ${from};
    SAVEPOINT inner; DELETE FROM account; ROLLBACK TO inner; RELEASE inner;
    INSERT INTO history VALUES (${number}, printf('%.*c', (${number} * 37) % 900 + 1, 'h'));
    ${filler}
    UPDATE account SET amount = amount + ${number} WHERE id = ${to};
    COMMIT;`;
}
