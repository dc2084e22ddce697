import { mkdirSync, read, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { RockpoolError } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { openBesideSqlite } from '../sqlite/beside-sqlite.ts';
import { acceptFile } from '../store/accept-file.ts';
import {
  databaseFileName,
  databaseIds,
  databasePath,
  fetchingPath,
  removeFetchedFiles,
} from '../store/data-directory.ts';
import { outlineOfFile } from '../store/database-outline.ts';
import { beginFileChange, finishFileChange, incomingPath, isFileChanging } from '../store/file-change.ts';
import { markPath } from '../store/file-damage.ts';
import { readUnloadedMark, type UnloadedMark } from '../store/unloaded-mark.ts';
import { isCopied } from './continuous-backup.ts';
import { readCopyFacts, recordPath, type CopyFacts } from './copy-record.ts';
import type { Destination } from './destination.ts';
import { fetchPages } from './fetch-pages.ts';
import { listCopies } from './generations.ts';
import { sourceOfFile } from './object-names.ts';
import { refusal, requireContents } from './owner.ts';
import { hashOfDestination } from './page-copier.ts';
import { damaged } from './page-section.ts';
import { planRestore, type RestorePlan } from './restore-plan.ts';

/** How long a session waits for its database. A client waits 15 s for a response. */
const FETCH_WAIT_MS = 10_000;

const MAX_PASS_INTERVAL_MS = 60 * 60_000;

const COMPARED_BYTES = 1024 * 1024;

export interface ColdDatabasesOptions {
  readonly dataDir: string;
  readonly destination: Destination;
  /** A database that was not opened for this time is unloaded. Null stands for never. */
  readonly unloadAfterMs: number | null;
  readonly owns: (databaseId: string) => boolean;
  /** See DatabaseCache.closeUnused: a few idle databases stay open, and would never be unloaded. */
  readonly closeUnused: () => Promise<void>;
  /** Whether a database is open, being opened or held. */
  readonly isInUse: (databaseId: string) => boolean;
  /** See Databases.hold. */
  readonly hold: (databaseId: string, error: RockpoolError) => Promise<void>;
  readonly isHeld: (databaseId: string) => boolean;
  readonly isHeldBy: (databaseId: string, error: RockpoolError) => boolean;
  /** Does nothing if the database is held with a different error. */
  readonly release: (databaseId: string, error: RockpoolError) => void;
  readonly log: Logger;
  readonly now: () => number;
  /** Default: 10 s. */
  readonly fetchWaitMs?: number;
}

interface Fetch {
  readonly ended: Promise<void>;
  fetchedBytes: number;
  totalBytes: number;
}

/**
 * Unloads unused databases, which then exist only in the continuous backup. Opening one fetches it first. The file is
 * removed only after the copy was read back and compared with it; until then the database cannot be opened.
 */
export class ColdDatabases {
  private readonly unloaded: Set<string>;
  private readonly options: ColdDatabasesOptions;
  private readonly fetches = new Map<string, Fetch>();
  private readonly timer: NodeJS.Timeout | null;
  private passing: Promise<void> | null = null;
  private isClosed = false;

  constructor(options: ColdDatabasesOptions) {
    this.options = options;
    const { dataDir, owns, unloadAfterMs } = options;
    const known = databaseIds(dataDir, { withMissing: true }).filter(owns);
    this.unloaded = new Set(known.filter((id) => readUnloadedMark(databasePath(dataDir, id)) !== null));
    const intervalMs = Math.min(MAX_PASS_INTERVAL_MS, (unloadAfterMs ?? Infinity) / 2);
    this.timer = unloadAfterMs === null ? null : setInterval(() => void this.pass(), intervalMs);
    this.timer?.unref();
  }

  /**
   * Fetches the database if it is unloaded. Throws `database-fetching` if that takes longer than a client waits: the
   * fetch continues, and a later call waits for it again. Throws `backup-damaged` or `backup-unavailable`, and
   * `database-unavailable` if an operator changes the database meanwhile.
   */
  async prepare(databaseId: string): Promise<void> {
    const mark = readUnloadedMark(databasePath(this.options.dataDir, databaseId));
    if (mark === null) return;
    const fetch = this.fetches.get(databaseId) ?? this.beginFetch(databaseId, mark);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.options.fetchWaitMs ?? FETCH_WAIT_MS);
    });
    const first = await Promise.race([fetch.ended, late]).finally(() => clearTimeout(timer));
    if (first === 'late') {
      const { fetchedBytes, totalBytes } = fetch;
      throw new RockpoolError('database-fetching', { fetchedBytes, totalBytes });
    }
  }

  /** The number of databases that only the destination holds. */
  get unloadedCount(): number {
    return this.unloaded.size;
  }

  /** Call after an operation that may have deleted or replaced the database. */
  recount(databaseId: string): void {
    if (readUnloadedMark(databasePath(this.options.dataDir, databaseId)) === null) this.unloaded.delete(databaseId);
  }

  /** Unloads every database that was not opened for long enough. */
  pass(): Promise<void> {
    this.passing ??= this.passNow()
      // The next pass tries again.
      .catch((error: unknown) => this.options.log('database-unload-failed', { database: null, ...errorFields(error) }))
      .finally(() => (this.passing = null));
    return this.passing;
  }

  /** Resolves once no unload is running. An unfinished fetch continues after the next start. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer !== null) clearInterval(this.timer);
    this.options.destination.close?.();
    await Promise.allSettled([this.passing, ...[...this.fetches.values()].map(({ ended }) => ended)]);
  }

  private beginFetch(databaseId: string, mark: UnloadedMark): Fetch {
    const fetch: Fetch = { ended: Promise.resolve(), fetchedBytes: 0, totalBytes: mark.sizeBytes };
    const { dataDir, log, now } = this.options;
    const startedMs = now();
    const ended = this.fetch(databaseId, mark, fetch).then(
      () => log('database-fetched', { database: databaseId, bytes: fetch.fetchedBytes, durationMs: now() - startedMs }),
      (error: unknown) => {
        // A later session continues the fetch of a database that is still unloaded.
        if (!this.isStillUnloaded(databaseId, mark)) removeFetchedFiles(dataDir, databaseId);
        log('database-fetch-failed', { database: databaseId, ...errorFields(error) });
        throw error;
      },
    );
    // Waiting sessions handle the failure through `fetch`. It is ignored here, in case no session waits any longer.
    ended.catch(() => undefined).finally(() => this.fetches.delete(databaseId));
    const begun = Object.assign(fetch, { ended });
    this.fetches.set(databaseId, begun);
    return begun;
  }

  private async fetch(databaseId: string, mark: UnloadedMark, progress: Fetch): Promise<void> {
    const { dataDir, destination } = this.options;
    const path = fetchingPath(dataDir, databaseId);
    mkdirSync(dirname(path), { recursive: true });
    const plan = await this.planOf(databaseId, mark.generation, mark.destination);
    progress.totalBytes = plan.sizeBytes;
    const { stateSum } = await fetchPages(destination, plan, path, {
      atMs: NEWEST,
      onProgress: (fetchedBytes) => {
        this.requireRunning();
        progress.fetchedBytes = fetchedBytes;
      },
    }).catch(async (error: unknown) => {
      if (error instanceof RockpoolError && error.code === 'backup-damaged') await requireContents(destination);
      throw error;
    });
    if (stateSum !== mark.stateSum) throw damaged(mark.generation, 'the fetched copy is not the one that was unloaded');
    // Nothing below waits, so no operation can begin before the file is installed.
    if (!this.isStillUnloaded(databaseId, mark))
      throw new RockpoolError('database-unavailable', { problem: 'the database was changed while it was fetched' });
    acceptFile(path);
    const staged = incomingPath(dataDir);
    renameSync(path, staged);
    renameSync(`${path}-sums`, `${staged}-sums`);
    beginFileChange(dataDir, databaseId, { kind: 'install', staged: basename(staged), isCopied: true });
    finishFileChange(dataDir, databaseId, () => undefined);
    this.unloaded.delete(databaseId);
  }

  private requireRunning(): void {
    if (this.isClosed) throw new RockpoolError('database-unavailable', { problem: 'the server is stopping' });
  }

  /**
   * Whether the database is the one that was unloaded: while it is fetched, an operator may delete or replace it, and
   * clients may create it again.
   */
  private isStillUnloaded(databaseId: string, mark: UnloadedMark): boolean {
    const { dataDir, isHeld } = this.options;
    const path = databasePath(dataDir, databaseId);
    if (isHeld(databaseId) || isFileChanging(path)) return false;
    // Null if a file exists.
    const current = readUnloadedMark(path);
    return current !== null && current.unloadedMs === mark.unloadedMs && current.stateSum === mark.stateSum;
  }

  /** `copiedTo`: the name of the destination that has the copy. */
  private async planOf(
    databaseId: string,
    generation: string,
    copiedTo: string = this.options.destination.name,
  ): Promise<RestorePlan> {
    const { destination } = this.options;
    const source = sourceOfFile(databaseFileName(databaseId));
    const copies = await listCopies(destination, source);
    const plan = planRestore(
      { ...copies, generations: copies.generations.filter(({ id }) => id === generation) },
      NEWEST,
    );
    if (plan !== null) return plan;
    // A destination that is not mounted must not count as damaged, which would block the devices.
    if (copiedTo !== destination.name)
      throw refusal(destination, 'get', `the database is unloaded to ${copiedTo}, and has no copy here`);
    await requireContents(destination);
    throw damaged(generation, 'the copy is missing');
  }

  private async passNow(): Promise<void> {
    const { dataDir, owns, closeUnused, log } = this.options;
    await closeUnused();
    for (const databaseId of databaseIds(dataDir).filter(owns)) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.isClosed) return;
      try {
        if (this.isCold(databaseId)) await this.unload(databaseId);
      } catch (error) {
        if (this.isClosed) return;
        log('database-unload-failed', { database: databaseId, ...errorFields(error) });
        // The other databases would fail too.
        if (error instanceof RockpoolError && error.code === 'backup-unavailable') return;
      }
    }
  }

  private isCold(databaseId: string): boolean {
    const { dataDir, destination, unloadAfterMs, isInUse, now } = this.options;
    const path = databasePath(dataDir, databaseId);
    if (unloadAfterMs === null || isInUse(databaseId) || isFileChanging(path)) return false;
    if (statSync(markPath(path), { throwIfNoEntry: false }) !== undefined) return false;
    // The modification time of the record changes whenever the database is closed.
    const usedMs = statSync(recordPath(path), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    return now() - usedMs >= unloadAfterMs && isCopied(path, hashOfDestination(destination));
  }

  private async unload(databaseId: string): Promise<void> {
    const { dataDir, destination } = this.options;
    const facts = readCopyFacts(databasePath(dataDir, databaseId));
    if (facts === null) return;
    const back = incomingPath(dataDir);
    try {
      const plan = await this.planOf(databaseId, facts.generation);
      const { stateSum } = await fetchPages(destination, plan, back, {
        atMs: NEWEST,
        onProgress: () => this.requireRunning(),
      });
      if (stateSum !== facts.stateSum) throw damaged(facts.generation, 'the copy was not made from this file');
      // A session has opened the database meanwhile, so it is no longer cold.
      if (this.isCold(databaseId)) await this.unloadHeld(databaseId, facts, back);
    } finally {
      for (const suffix of ['', '.progress']) rmSync(back + suffix, { force: true });
    }
  }

  /** The file cannot be opened while it is compared with the copy and removed. */
  private async unloadHeld(databaseId: string, facts: CopyFacts, back: string): Promise<void> {
    const { dataDir, destination, hold, release, isHeldBy, log, now } = this.options;
    const path = databasePath(dataDir, databaseId);
    const error = new RockpoolError('database-unavailable', { problem: 'the database is being unloaded' });
    await hold(databaseId, error);
    try {
      const { generation, copies, stateSum } = facts;
      const isSame = await isSameFile(path, back);
      if (!isSame) throw damaged(generation, 'the copy differs from the file');
      // Stops if an operator has started an operation on the database.
      if (!isHeldBy(databaseId, error) || isFileChanging(path) || !isCopied(path, hashOfDestination(destination)))
        return;
      if (readCopyFacts(path)?.stateSum !== stateSum) return;
      const { sizeBytes, watermark, lastWriteMs } = outlineOfFile(path);
      const mark: UnloadedMark = {
        ...{ generation, copies, stateSum, watermark, lastWriteMs },
        destination: destination.name,
        sizeBytes: sizeBytes ?? 0,
        unloadedMs: now(),
      };
      beginFileChange(dataDir, databaseId, { kind: 'unload', mark });
      finishFileChange(dataDir, databaseId, () => undefined);
      this.unloaded.add(databaseId);
      log('database-unloaded', { database: databaseId, bytes: mark.sizeBytes });
    } finally {
      release(databaseId, error);
    }
  }
}

const readAt = promisify(read);

const NEWEST: number = Number.MAX_SAFE_INTEGER;

/** Reads both files on the thread pool. */
async function isSameFile(a: string, b: string): Promise<boolean> {
  if (statSync(a).size !== statSync(b).size) return false;
  const [first, second] = [openBesideSqlite(a), openBesideSqlite(b)];
  try {
    const [one, other] = [Buffer.alloc(COMPARED_BYTES), Buffer.alloc(COMPARED_BYTES)];
    for (let position = 0; ;) {
      const { bytesRead } = await readAt(first.descriptor, one, 0, one.length, position);
      if (bytesRead === 0) return true;
      await readAt(second.descriptor, other, 0, bytesRead, position);
      if (!one.subarray(0, bytesRead).equals(other.subarray(0, bytesRead))) return false;
      position += bytesRead;
    }
  } finally {
    first.release();
    second.release();
  }
}
