import { existsSync, statSync } from 'node:fs';
import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { PageSums } from '../sqlite/page-sums.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { databaseFileName, databaseIds, databasePath } from '../store/data-directory.ts';
import type { BackupState } from './backup-state.ts';
import { CopiedDatabase } from './copied-database.ts';
import { CopyRecord, readCopyFacts, type CopyFacts } from './copy-record.ts';
import type { Destination } from './destination.ts';
import { differingPages } from './differing-pages.ts';
import { maintain } from './maintenance.ts';
import { sourceOfFile } from './object-names.ts';
import { Ownership } from './owner.ts';
import { hasCopiedTo, hashOfDestination, isOutdated, type PageCopierOptions } from './page-copier.ts';
import { causeOf, RetryGate, type Outage } from './retry-gate.ts';

/** The maximum number of copies that run at the same time. Each of them mostly waits for the network. */
const MAX_COPIES = 32;

/** After this many copies, small objects are combined into larger ones. */
export const COPIES_PER_MAINTENANCE = 32;

const IDS_PER_TURN = 50;

/** How often to look for databases that no longer change, and whose copies should expire. */
const RENEWAL_INTERVAL_MS = 6 * 60 * 60_000;

/**
 * How long to wait before a copy is retried if only one database cannot be copied, for example because a page is
 * damaged.
 */
const RETRY_MS = 60_000;

export interface ContinuousBackupOptions {
  readonly dataDir: string;
  readonly destination: Destination;
  /** A random id of this run of the server. */
  readonly run: string;
  /** Time from a commit to its copy; commits in between share it. */
  readonly intervalMs: number;
  /** How long earlier states are kept. */
  readonly keepMs: number;
  readonly owns: (databaseId: string) => boolean;
  /** Opens a database, which calls `attach`. */
  readonly open: (databaseId: string) => Promise<unknown>;
  readonly onDamaged: (databaseId: string, error: RockpoolError) => void;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Copies the databases of this thread while they change. Nothing waits for a copy: while the destination fails, the
 * numbers of changed pages are remembered, and the pages are copied once it works again.
 */
export class ContinuousBackup {
  private readonly options: ContinuousBackupOptions;
  private readonly ownership: Ownership;
  private readonly gate: RetryGate;
  private readonly destinationHash: string;
  private readonly open = new Map<string, CopiedDatabase>();
  // Closed databases whose copies are not complete.
  private readonly unfinished = new Set<string>();
  // Closed databases that could not be opened, with the next attempts.
  private readonly skipped = new Map<string, NodeJS.Timeout>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  // Databases whose copy is due, and which wait for a free slot or for the destination.
  private readonly due = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly maintaining = new Map<string, Promise<void>>();
  private readonly renewal: NodeJS.Timeout;
  private probing: Promise<void> | null = null;
  private isOpening = false;
  /** The database that `openUnfinished` is opening. */
  private opening: string | null = null;
  private isClosed = false;
  private counts = { objects: 0, storedBytes: 0, failures: 0, restarts: 0 };

  constructor(options: ContinuousBackupOptions) {
    this.options = options;
    this.ownership = new Ownership(options.destination, options.run, options.now, () => hasCopiedTo(options));
    this.gate = new RetryGate(options.now, () => this.next());
    this.destinationHash = hashOfDestination(options.destination);
    this.renewal = setInterval(() => {
      void this.renewOld().catch((error: unknown) => options.log('backup-failed', errorFields(error)));
    }, RENEWAL_INTERVAL_MS);
    this.renewal.unref();
  }

  /** Finds the databases whose copies are not complete. Resolves once all are known. */
  start(): Promise<void> {
    return this.openThose((path) => !isCopied(path, this.destinationHash) || this.isOutdated(path));
  }

  /**
   * Begins new copies of databases that no longer change, so that the copies with earlier states expire. Unloaded
   * databases keep theirs until they are fetched.
   */
  async renewOld(): Promise<void> {
    for (const database of this.open.values()) database.renewOld();
    await this.openThose((path) => this.isOutdated(path));
  }

  /** Opens the closed databases of this thread that `isMeant` chooses by the path of the file. */
  private async openThose(isMeant: (path: string) => boolean): Promise<void> {
    const { dataDir, owns } = this.options;
    for (const [i, databaseId] of databaseIds(dataDir).filter(owns).entries()) {
      if (i % IDS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      if (this.isClosed) return;
      if (!this.open.has(databaseId) && isMeant(databasePath(dataDir, databaseId))) this.unfinished.add(databaseId);
    }
    void this.openUnfinished();
  }

  private isOutdated(path: string): boolean {
    const facts = readCopyFacts(path);
    return facts !== null && isOutdated(facts, this.options.now(), this.options.keepMs / 2);
  }

  /** Copies a database from now on. This thread has just opened it. */
  attach(databaseId: string, sql: SqliteFile): void {
    const earlier = this.open.get(databaseId)?.ended ?? Promise.resolve();
    const database: CopiedDatabase = new CopiedDatabase(sql, this.copierOptions(databaseId), {
      onChange: () => this.changed(databaseId),
      onClosed: (isComplete) => this.closed(databaseId, database, isComplete),
      onDamaged: (error) => this.failedOne(databaseId, error),
    });
    this.unfinished.delete(databaseId);
    this.stopSkipping(databaseId);
    this.open.set(databaseId, database);
    void database.begin(earlier).catch((error: unknown) => this.failedOne(databaseId, error));
  }

  /** Whether a database must stay open because it is not completely copied. */
  isPending(databaseId: string): boolean {
    return this.open.get(databaseId)?.isPending === true;
  }

  get state(): Omit<BackupState, 'unloaded'> {
    const { outage } = this.gate;
    const uncopied = [...this.open.values()].flatMap(({ lagSinceMs }) => lagSinceMs ?? []);
    const nowMs = this.options.now();
    return {
      pending:
        this.unfinished.size +
        [...this.skipped.keys()].filter((id) => this.exists(id)).length +
        [...this.open.keys()].filter((id) => this.isPending(id)).length +
        (this.opening === null || this.open.has(this.opening) ? 0 : 1),
      lagMs: Math.max(0, ...uncopied.map((sinceMs) => nowMs - sinceMs)),
      ...this.counts,
      outage:
        outage === null
          ? null
          : {
              sinceMs: outage.sinceMs,
              nextAttemptMs: outage.nextAttemptMs,
              code: outage.error.code,
              cause: causeOf(outage.error),
            },
    };
  }

  /** Immediately copies the changes that wait for their interval. Resolves when that is done, or after `deadlineMs`. */
  async flush(deadlineMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, deadlineMs);
    });
    const all = async (): Promise<void> => {
      while (this.gate.outage === null && (this.timers.size > 0 || this.due.size > 0 || this.running.size > 0)) {
        for (const databaseId of this.timers.keys()) this.copySoon(databaseId, 0);
        await Promise.race([...this.running.values(), new Promise((resolve) => setImmediate(resolve))]);
      }
    };
    await Promise.race([all(), late]);
    clearTimeout(timer);
  }

  /** Resolves once no copy runs. Call after the databases are closed. Cancels what `flush` has not waited for. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.gate.close();
    clearInterval(this.renewal);
    this.options.destination.close?.();
    for (const timer of [...this.timers.values(), ...this.skipped.values()]) clearTimeout(timer);
    await Promise.allSettled([...this.running.values(), ...this.maintaining.values(), this.probing]);
  }

  private copierOptions(databaseId: string): PageCopierOptions {
    const { dataDir, destination, keepMs, now, log } = this.options;
    return {
      databasePath: databasePath(dataDir, databaseId),
      source: sourceOfFile(databaseFileName(databaseId)),
      destination,
      now,
      // The retention time contains two bases, so states before the older one can be deleted.
      maxGenerationMs: keepMs / 2,
      onGeneration: (generation, reason) => {
        if (reason === 'record-damaged') this.counts.restarts++;
        log('backup-generation', { database: databaseId, generation, reason });
      },
      onStored: (bytes) => {
        this.counts.objects++;
        this.counts.storedBytes += bytes;
      },
    };
  }

  private changed(databaseId: string): void {
    if (!this.isClosed && !this.timers.has(databaseId) && !this.due.has(databaseId) && !this.running.has(databaseId))
      this.copySoon(databaseId, this.options.intervalMs);
  }

  private copySoon(databaseId: string, delayMs: number): void {
    const timer = this.timers.get(databaseId);
    if (timer !== undefined) clearTimeout(timer);
    this.timers.delete(databaseId);
    if (delayMs === 0) {
      this.due.add(databaseId);
      return this.next();
    }
    const started = setTimeout(() => this.copySoon(databaseId, 0), delayMs);
    started.unref();
    this.timers.set(databaseId, started);
  }

  /** Starts the copies that are due. If the destination has failed, starts a single one, or a probe if none is due. */
  private next(): void {
    const isFailing = this.gate.outage !== null;
    for (const databaseId of this.due) {
      const places = isFailing ? 1 : MAX_COPIES;
      if (this.isClosed || this.gate.isClosed || this.probing !== null || this.running.size >= places) return;
      this.due.delete(databaseId);
      this.run(databaseId);
    }
    if (this.due.size > 0 || this.isClosed || this.gate.isClosed) return;
    if (!isFailing) void this.openUnfinished();
    else if (this.running.size === 0) this.probing ??= this.probe();
  }

  /**
   * Called during an outage when no copy is due, because the databases whose copies failed are closed or deleted: a
   * write of `server.json` shows whether the destination works again.
   */
  private async probe(): Promise<void> {
    let failure: unknown = null;
    try {
      await this.ownership.claim();
    } catch (error) {
      failure = error;
    }
    this.probing = null;
    if (failure === null) this.succeeded();
    else this.failed(null, toRockpoolError(failure), null);
    this.next();
  }

  private run(databaseId: string): void {
    const database = this.open.get(databaseId);
    if (database === undefined || this.running.has(databaseId)) return;
    const running = this.copy(databaseId, database).finally(() => {
      this.running.delete(databaseId);
      if (this.open.get(databaseId)?.hasChanges === true) this.changed(databaseId);
      this.next();
    });
    this.running.set(databaseId, running);
  }

  private async copy(databaseId: string, database: CopiedDatabase): Promise<void> {
    const sinceMs = database.lagSinceMs;
    try {
      await this.ownership.require();
      const isCopied = await database.copy();
      this.succeeded();
      const { facts } = database;
      if (isCopied && facts !== null) this.maintainOften(databaseId, facts);
    } catch (error) {
      if (error instanceof RockpoolError && error.code === 'backup-unavailable')
        this.failed(databaseId, error, sinceMs);
      else this.failedOne(databaseId, error);
    }
  }

  private succeeded(): void {
    const over = this.gate.succeeded();
    if (over === null) return;
    const { destination, log, now } = this.options;
    log('backup-recovered', { destination: destination.name, failures: over.failures, lastedMs: now() - over.sinceMs });
  }

  /** `databaseId` is null if a probe failed. */
  private failed(databaseId: string | null, error: RockpoolError, sinceMs: number | null): void {
    this.counts.failures++;
    this.ownership.doubt();
    const outage: Outage = this.gate.failed(error);
    const { log, now } = this.options;
    log('backup-failed', {
      ...error.fields,
      ...errorFields(error),
      database: databaseId,
      failures: outage.failures,
      retryInMs: outage.nextAttemptMs - now(),
      lagMs: sinceMs === null ? 0 : now() - sinceMs,
      pending: this.state.pending,
    });
    // A database that was closed during the copy is copied when it is opened again.
    if (databaseId !== null && this.open.has(databaseId)) this.due.add(databaseId);
  }

  /** The failure concerns one database, such as a damaged page. `database-unavailable` means that it was closed. */
  private failedOne(databaseId: string, error: unknown): void {
    if (error instanceof RockpoolError && error.code === 'database-unavailable') return;
    this.counts.failures++;
    this.options.log('backup-failed', { database: databaseId, ...errorFields(error), retryInMs: RETRY_MS });
    if (error instanceof RockpoolError && error.code === 'database-damaged')
      return this.options.onDamaged(databaseId, error);
    if (this.open.has(databaseId) && !this.isClosed) this.copySoon(databaseId, RETRY_MS);
  }

  private maintainOften(databaseId: string, { generation, copies }: CopyFacts): void {
    if (copies % COPIES_PER_MAINTENANCE !== 0 || this.maintaining.has(databaseId)) return;
    const { destination, log } = this.options;
    const source = sourceOfFile(databaseFileName(databaseId));
    const maintaining = maintain(destination, { source, generation, copies })
      // Copies that are not combined now are combined after the next copies.
      .catch((error: unknown) => log('backup-maintenance-failed', { database: databaseId, ...errorFields(error) }))
      .finally(() => this.maintaining.delete(databaseId));
    this.maintaining.set(databaseId, maintaining);
  }

  private closed(databaseId: string, database: CopiedDatabase, isComplete: boolean): void {
    if (this.open.get(databaseId) !== database) return;
    this.open.delete(databaseId);
    const timer = this.timers.get(databaseId);
    if (timer !== undefined) clearTimeout(timer);
    this.timers.delete(databaseId);
    this.due.delete(databaseId);
    if (isComplete || this.isClosed) return;
    this.unfinished.add(databaseId);
    void this.openUnfinished();
  }

  /** A database that cannot be opened now is copied as soon as it can be opened. */
  private skip(databaseId: string, error: unknown): void {
    const { log } = this.options;
    if (this.isClosed || !isPassing(error))
      return log('backup-skipped', { database: databaseId, ...errorFields(error) });
    log('backup-skipped', { database: databaseId, ...errorFields(error), retryInMs: RETRY_MS });
    const timer = setTimeout(() => {
      this.skipped.delete(databaseId);
      this.unfinished.add(databaseId);
      void this.openUnfinished();
    }, RETRY_MS);
    timer.unref();
    this.skipped.set(databaseId, timer);
  }

  private stopSkipping(databaseId: string): void {
    const timer = this.skipped.get(databaseId);
    if (timer !== undefined) clearTimeout(timer);
    this.skipped.delete(databaseId);
  }

  private exists(databaseId: string): boolean {
    return existsSync(databasePath(this.options.dataDir, databaseId));
  }

  /** Opens databases that are not copied, a few at a time. */
  private async openUnfinished(): Promise<void> {
    if (this.isOpening) return;
    this.isOpening = true;
    try {
      for (const databaseId of this.unfinished) {
        await new Promise((resolve) => setImmediate(resolve));
        if (this.isClosed || this.gate.isClosed || this.due.size + this.running.size >= MAX_COPIES) return;
        this.unfinished.delete(databaseId);
        // Opening a database that was deleted meanwhile would create it again.
        if (!this.exists(databaseId)) continue;
        this.opening = databaseId;
        await this.options.open(databaseId).catch((error: unknown) => this.skip(databaseId, error));
        this.opening = null;
      }
    } finally {
      this.isOpening = false;
    }
  }
}

/**
 * Whether a database that cannot be opened may be opened later without a repair of its file: the disk is full, or an
 * operator holds it.
 */
function isPassing(error: unknown): boolean {
  return error instanceof RockpoolError && (error.code === 'server-disk-full' || error.code === 'database-unavailable');
}

/**
 * Whether the destination has all of a database that no server has open. A server without a backup may have written to
 * the file since, so the checksums of its pages are compared with those that were copied.
 */
export function isCopied(path: string, destinationHash: string): boolean {
  const facts = readCopyFacts(path);
  if (facts === null || !facts.isComplete || facts.destination !== destinationHash) return false;
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false;
  const sums = PageSums.openExisting(path);
  if (sums === null) return false;
  try {
    return !sums.isLogInUse && hasCopiedPages(path, sums);
  } finally {
    sums.close();
  }
}

function hasCopiedPages(path: string, sums: PageSums): boolean {
  const record = CopyRecord.open(path);
  if (!(record instanceof CopyRecord)) return false;
  try {
    const { pageCount } = record.facts;
    if (sums.pageCount > pageCount) return false;
    const slices = differingPages({
      pageCount,
      stored: (first, count) => sums.read(first, count),
      copied: (first, count) => record.read(first, count),
      unknownDiffers: false,
    });
    for (const differing of slices) if (differing.length > 0) return false;
    return true;
  } finally {
    record.close();
  }
}
