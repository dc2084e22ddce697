import { readFileSync, rmSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { RockpoolError } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { copyDatabase } from '../store/copy-database.ts';
import { databasesDirectory, membersPath } from '../store/data-directory.ts';
import { FORGOTTEN, incomingPath } from '../store/file-change.ts';
import { schemaFileNames, schemasDirectory } from '../store/known-schemas.ts';
import type { BackupState } from './backup-state.ts';
import type { Destination } from './destination.ts';
import { deletedKey, MEMBERS_SOURCE, SCHEMAS, sourceOfFile } from './object-names.ts';
import { Ownership } from './owner.ts';
import { hasCopiedTo, PageCopier } from './page-copier.ts';
import { advanceClock, deleteExpired } from './retention.ts';
import { causeOf, RetryGate } from './retry-gate.ts';
import { StillFile } from './still-file.ts';

/** How often to look for deleted databases. */
const DELETIONS_INTERVAL_MS = 60_000;

const RETENTION_INTERVAL_MS = 6 * 60 * 60_000;

/** A stopping server also spends time on the last copies of its databases, and has half a minute in all. */
const LAST_COPY_MS = 5_000;

/** Copying the members takes at most this share of the thread's time. */
const MAX_MEMBERS_SHARE = 0.02;

export interface ServerCopiesOptions {
  readonly dataDir: string;
  readonly destination: Destination;
  readonly run: string;
  readonly intervalMs: number;
  readonly keepMs: number;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Copies the files that belong to no single database: the members, which other processes write to, and the schemas.
 * Records which databases were deleted, and deletes copies that are too old.
 */
export class ServerCopies {
  private readonly options: ServerCopiesOptions;
  private readonly ownership: Ownership;
  private readonly gate: RetryGate;
  // A running server stores no further schema.
  private hasCopiedSchemas = false;
  private readonly copiedSchemas = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private members: PageCopier | null = null;
  private membersVersion = '';
  private membersNextMs = 0;
  private deletionsNextMs = 0;
  private retentionNextMs: number;
  private lookedMs = 0;
  private running: Promise<void> | null = null;
  private isClosed = false;
  private counts = { objects: 0, storedBytes: 0, failures: 0, restarts: 0 };
  private lagSinceMs: number | null = null;

  constructor(options: ServerCopiesOptions) {
    this.options = options;
    this.ownership = new Ownership(options.destination, options.run, options.now, () => hasCopiedTo(options));
    this.gate = new RetryGate(options.now, () => undefined);
    this.retentionNextMs = options.now() + DELETIONS_INTERVAL_MS;
    this.timer = setInterval(() => void this.look(), options.intervalMs);
    this.timer.unref();
  }

  get state(): BackupState {
    const { outage } = this.gate;
    const nowMs = this.options.now();
    return {
      pending: this.lagSinceMs === null ? 0 : 1,
      lagMs: this.lagSinceMs === null ? 0 : nowMs - this.lagSinceMs,
      ...this.counts,
      unloaded: 0,
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

  /** Copies what has changed since the last time. */
  look(): Promise<void> {
    if (this.isClosed || this.gate.isClosed) return this.running ?? Promise.resolve();
    this.running ??= this.lookNow().finally(() => (this.running = null));
    return this.running;
  }

  /** Copies the members once more, for at most 5 s. The next start continues. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    const late = setTimeout(() => this.options.destination.close?.(), LAST_COPY_MS);
    await this.running;
    this.membersNextMs = 0;
    await this.look();
    clearTimeout(late);
    this.isClosed = true;
    this.gate.close();
    this.members?.close();
  }

  private async lookNow(): Promise<void> {
    const { destination, log, now } = this.options;
    // If the clock was set back, nothing would be due until it caught up.
    if (now() < this.lookedMs) this.membersNextMs = this.deletionsNextMs = this.retentionNextMs = 0;
    this.lookedMs = now();
    // Noted before anything that may fail: while the storage does not respond, a change of the members is lag.
    if (versionOf(membersPath(this.options.dataDir)) !== this.membersVersion) this.lagSinceMs ??= now();
    try {
      await this.ownership.require();
      await this.copyMembers();
      await this.copySchemas();
      await this.recordDeletions();
      await this.deleteOld();
      const over = this.gate.succeeded();
      if (over !== null)
        log('backup-recovered', {
          destination: destination.name,
          failures: over.failures,
          lastedMs: now() - over.sinceMs,
        });
    } catch (error) {
      this.counts.failures++;
      this.ownership.doubt();
      const failure =
        error instanceof RockpoolError ? error : new RockpoolError('backup-unavailable', {}, { cause: error });
      const outage = this.gate.failed(failure);
      log('backup-failed', {
        ...failure.fields,
        ...errorFields(failure),
        database: null,
        failures: outage.failures,
        retryInMs: outage.nextAttemptMs - now(),
      });
    }
  }

  private async copyMembers(): Promise<void> {
    const { dataDir, destination, now, keepMs, log } = this.options;
    const path = membersPath(dataDir);
    const version = versionOf(path);
    if (version === this.membersVersion || now() < this.membersNextMs) return;
    const copy = incomingPath(dataDir);
    const startedMs = performance.now();
    try {
      copyDatabase(path, copy);
      this.membersNextMs = now() + (performance.now() - startedMs) / MAX_MEMBERS_SHARE;
      this.members ??= new PageCopier({
        databasePath: path,
        source: MEMBERS_SOURCE,
        destination,
        now,
        maxGenerationMs: keepMs / 2,
        onGeneration: (generation, reason) => {
          if (reason === 'record-damaged') this.counts.restarts++;
          log('backup-generation', { database: null, generation, reason });
        },
        onStored: (bytes) => {
          this.counts.objects++;
          this.counts.storedBytes += bytes;
        },
      });
      await this.members.copy(new StillFile(copy, { timeMs: now() }));
    } finally {
      rmSync(copy, { force: true });
    }
    this.membersVersion = version;
    this.lagSinceMs = null;
  }

  private async copySchemas(): Promise<void> {
    if (this.hasCopiedSchemas) return;
    const { dataDir, destination } = this.options;
    for (const name of schemaFileNames(dataDir))
      if (!this.copiedSchemas.has(name)) {
        await destination.put(SCHEMAS + name, await readFile(join(schemasDirectory(dataDir), name)));
        this.copiedSchemas.add(name);
      }
    this.hasCopiedSchemas = true;
  }

  /** Records deletions, so that a restore to a later moment does not restore the deleted databases. */
  private async recordDeletions(): Promise<void> {
    const { dataDir, destination, now } = this.options;
    if (now() < this.deletionsNextMs) return;
    const folder = databasesDirectory(dataDir);
    for (const name of await readdir(folder)) {
      if (!name.endsWith(FORGOTTEN)) continue;
      const source = sourceOfFile(name.slice(0, -FORGOTTEN.length));
      const path = join(folder, name);
      const time = readFileSync(path, 'utf8');
      await destination.put(deletedKey(source, Number(time)), new Uint8Array());
      // If the database was created and deleted again meanwhile, the file has a new time, which the next run records.
      if (readFileSync(path, 'utf8') === time) rmSync(path);
    }
    this.deletionsNextMs = now() + DELETIONS_INTERVAL_MS;
  }

  private async deleteOld(): Promise<void> {
    const { destination, keepMs, log, now } = this.options;
    if (now() < this.retentionNextMs) return;
    const nowMs = now();
    const trustedMs = await advanceClock(destination, nowMs);
    if (trustedMs !== null && trustedMs < nowMs) log('backup-expiry-delayed', { behindMs: nowMs - trustedMs });
    const objects = trustedMs === null ? 0 : await deleteExpired(destination, trustedMs - keepMs);
    this.retentionNextMs = now() + RETENTION_INTERVAL_MS;
    if (objects > 0) log('backup-expired', { objects });
  }
}

/** Returns a text that changes with every commit to the file, by any process. */
function versionOf(path: string): string {
  return ['', '-wal']
    .map((suffix) => statSync(path + suffix, { throwIfNoEntry: false }))
    .map((facts) => (facts === undefined ? '' : `${facts.ino} ${facts.mtimeMs} ${facts.size}`))
    .join('/');
}
