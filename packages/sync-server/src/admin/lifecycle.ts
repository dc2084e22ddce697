import { createWriteStream, existsSync, rmSync, statfsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RockpoolError } from '@rockpool/shared';
import type { Members } from '../auth/members.ts';
import { deletionMs } from '../backup/copy-record.ts';
import type { Databases } from '../database/databases.ts';
import type { Devices } from '../session/devices.ts';
import type { FoundMoment } from '../history/past-moment.ts';
import { beginFileChange, finishFileChange, incomingPath, isFileChanging } from '../store/file-change.ts';
import type { Store } from '../store/store.ts';
import type { AdminJobs, CopiedFile, FetchedBackup } from './admin-jobs.ts';
import { conflict, missing } from './admin-refusal.ts';

/** An import leaves this much space free: with less, the disk counts as full (store/sqlite-store.ts). */
const RESERVE_BYTES = 64 * 1024 * 1024;

/** An import checks the free space each time it has received this many bytes. */
const SPACE_CHECK_BYTES = 16 * 1024 * 1024;

const DEFAULT_MAX_IMPORT_BYTES = 64 * 1024 ** 3;

export interface LifecycleOptions {
  readonly dataDir: string;
  readonly databases: Databases;
  readonly store: Store;
  /** Whether databases are files of `dataDir`. If false, they are in PostgreSQL. */
  readonly hasFiles: boolean;
  readonly members: Members;
  readonly devices: Devices;
  readonly jobs: AdminJobs;
  readonly maxImportBytes?: number | undefined;
  /** Called after each operation on a database. */
  readonly onReleased: (databaseId: string) => void;
}

/** The operation that an operator runs on a database. `draining` lasts until `open`, the others until they are done. */
export type LifecycleOperation =
  | 'closing'
  | 'draining'
  | 'creating'
  | 'deleting'
  | 'importing'
  | 'replacing'
  | 'reading';

/**
 * The errors with which sessions of the database end. Each is `database-unavailable`, so clients retry automatically.
 */
const PROBLEMS: Readonly<Record<Exclude<LifecycleOperation, 'reading'>, string>> = {
  closing: 'the operator closed the database; it reopens at once',
  draining: 'the operator took the database offline for maintenance',
  creating: 'the operator is creating the database',
  deleting: 'the operator is deleting the database',
  importing: 'the operator is importing the database',
  replacing: 'the operator is replacing the database',
};

function operatorError(operation: Exclude<LifecycleOperation, 'reading'>): RockpoolError {
  return new RockpoolError('database-unavailable', { problem: PROBLEMS[operation] });
}

/**
 * Creates, deletes, imports, exports and closes single databases while the others are in use. Operations on one
 * database run one after the other. An operation that needs the database closed ends its sessions with
 * `database-unavailable`; their clients reconnect when it is done.
 */
export class Lifecycle {
  private readonly options: LifecycleOptions;
  private readonly operations = new Map<string, LifecycleOperation>();
  private readonly drained = new Set<string>();
  private readonly last = new Map<string, Promise<unknown>>();

  constructor(options: LifecycleOptions) {
    this.options = options;
  }

  /** The operation that runs on a database. Null if there is none. */
  operationOf(databaseId: string): LifecycleOperation | null {
    const operation = this.operations.get(databaseId) ?? null;
    return this.drained.has(databaseId) && (operation === null || operation === 'reading') ? 'draining' : operation;
  }

  isDrained(databaseId: string): boolean {
    return this.drained.has(databaseId);
  }

  /** Ends the sessions of a database and closes its file. Clients reconnect, and the first one opens it again. */
  close(databaseId: string): Promise<void> {
    return this.whileHeld(databaseId, 'closing', () => this.requireExisting(databaseId));
  }

  /** Closes a database and keeps it closed until `open` is called or the server stops. */
  drain(databaseId: string): Promise<void> {
    return this.whileHeld(databaseId, 'draining', async () => {
      await this.requireExisting(databaseId);
      this.drained.add(databaseId);
    });
  }

  /** Lets clients in again. */
  open(databaseId: string): Promise<void> {
    return this.inOrder(databaseId, 'closing', async () => {
      if (!this.drained.delete(databaseId)) throw conflict('the database is not drained, so it cannot be opened');
      this.release(databaseId);
    });
  }

  /** Creates an empty database. */
  create(databaseId: string): Promise<void> {
    return this.whileHeld(databaseId, 'creating', async () => {
      await this.requireMissing(databaseId);
      if (!this.options.hasFiles) return this.options.jobs.create(databaseId);
      const staged = incomingPath(this.options.dataDir);
      await this.options.jobs.create(databaseId, staged);
      this.install(databaseId, staged);
    });
  }

  /** Deletes a database with its members. `confirmation` must be its id or its identity. Returns its last watermark. */
  delete(databaseId: string, confirmation: string): Promise<number | null> {
    return this.inOrder(databaseId, 'deleting', async () => {
      const { dataDir, store, members, devices, hasFiles, jobs } = this.options;
      await this.requireExisting(databaseId);
      await this.requireConfirmed(databaseId, confirmation);
      return this.held(databaseId, 'deleting', async () => {
        const { watermark } = await store.outline(databaseId);
        if (hasFiles) {
          beginFileChange(dataDir, databaseId, { kind: 'delete', deletedMs: deletionMs(store.pathOf(databaseId)) });
          finishFileChange(dataDir, databaseId, (id) => void members.forgetDatabase(id));
        } else {
          await jobs.delete(databaseId);
          // The job has deleted the members, before another instance could create the database again and add new ones.
          members.forgotten(databaseId);
        }
        devices.forget(databaseId);
        this.drained.delete(databaseId);
        return watermark;
      });
    });
  }

  /** Adds the database in a file, under a new log epoch. Never replaces a database. */
  import(databaseId: string, body: ReadableStream<Uint8Array> | null): Promise<number> {
    return this.receiving(body, (received, sizeBytes) => this.add(databaseId, received).then(() => sizeBytes));
  }

  /**
   * Adds a database with the rows of another one at a past time; every table needs a history. The source stays in use.
   * Returns the moment of the rows. Throws like writePastDatabase.
   */
  restore(
    databaseId: string,
    from: string,
    times: { readonly timeMs: number; readonly nowMs: number },
  ): Promise<FoundMoment> {
    const { store, jobs } = this.options;
    return this.addWritten(databaseId, (path) =>
      this.inOrder(from, 'reading', async () => {
        await this.requireExisting(from);
        this.requireSpace((await store.outline(from)).sizeBytes ?? 0);
        return jobs.exportPast(from, path, times);
      }),
    );
  }

  /**
   * Adds a database with the state that another one had at `atMs`, from its backup. Rejects like AdminJobs.fetchBackup.
   */
  restoreBackup(databaseId: string, from: string, atMs: number): Promise<FetchedBackup> {
    return this.addWritten(databaseId, (path) => this.options.jobs.fetchBackup(from, path, atMs));
  }

  private async addWritten<Result>(databaseId: string, write: (path: string) => Promise<Result>): Promise<Result> {
    const path = incomingPath(this.options.dataDir);
    try {
      await this.requireMissing(databaseId);
      const written = await write(path);
      await this.add(databaseId, path);
      return written;
    } finally {
      for (const suffix of ['', '-wal', '-shm', '.progress']) await rm(path + suffix, { force: true });
    }
  }

  /**
   * Replaces the file of a database, which keeps its members. Returns the name of the old file, which is kept.
   * `confirmation` must be the id or the identity.
   */
  replace(databaseId: string, body: ReadableStream<Uint8Array> | null, confirmation: string): Promise<string | null> {
    const { hasFiles } = this.options;
    if (!hasFiles)
      return Promise.reject(conflict('PostgreSQL has no files to replace; delete the database, then import it'));
    return this.receiving(body, (received) =>
      this.inOrder(databaseId, 'replacing', async () => {
        await this.requireExisting(databaseId);
        await this.requireConfirmed(databaseId, confirmation);
        const staged = await this.stage(databaseId, received);
        return this.held(databaseId, 'replacing', async () => this.install(databaseId, staged));
      }),
    );
  }

  /** Writes a copy of a database as of one moment. The caller removes the file. */
  export(databaseId: string): Promise<CopiedFile> {
    return this.inOrder(databaseId, 'reading', async () => {
      await this.requireExisting(databaseId);
      const { dataDir, store, jobs } = this.options;
      const { sizeBytes, unloadedMs } = await store.outline(databaseId);
      if (unloadedMs !== null) throw conflict('the database is unloaded; copy it from its backup with restore --from');
      this.requireSpace(sizeBytes ?? 0);
      const path = incomingPath(dataDir);
      return jobs.export(databaseId, path).catch((error: unknown) => {
        // The process may have been killed while it was writing.
        rmSync(path, { force: true });
        throw error;
      });
    });
  }

  /** Runs `read` while no operation changes the database. */
  reading<Result>(databaseId: string, read: () => Promise<Result>): Promise<Result> {
    return this.inOrder(databaseId, 'reading', read);
  }

  private add(databaseId: string, received: string): Promise<void> {
    return this.whileHeld(databaseId, 'importing', async () => {
      await this.requireMissing(databaseId);
      if (this.options.hasFiles) this.install(databaseId, await this.stage(databaseId, received));
      else await this.options.jobs.import(databaseId, received);
    });
  }

  private whileHeld<Result>(
    databaseId: string,
    operation: Exclude<LifecycleOperation, 'reading'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.inOrder(databaseId, operation, () => this.held(databaseId, operation, work));
  }

  private async held<Result>(
    databaseId: string,
    operation: Exclude<LifecycleOperation, 'reading'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { databases, dataDir, members, hasFiles } = this.options;
    try {
      await databases.hold(databaseId, operatorError(operation));
      // Finishes an earlier operation that may have failed before its end because the disk was full.
      if (hasFiles) finishFileChange(dataDir, databaseId, (id) => void members.forgetDatabase(id));
      return await work();
    } finally {
      if (this.drained.has(databaseId)) await databases.hold(databaseId, operatorError('draining'));
      else this.release(databaseId);
    }
  }

  /**
   * A database with an unfinished change stays closed: a new one in its place would be lost when the change is
   * finished.
   */
  private release(databaseId: string): void {
    const { databases, store, hasFiles, onReleased } = this.options;
    if (hasFiles && isFileChanging(store.pathOf(databaseId))) return;
    databases.release(databaseId);
    onReleased(databaseId);
  }

  private inOrder<Result>(
    databaseId: string,
    operation: LifecycleOperation,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const before = this.last.get(databaseId) ?? Promise.resolve();
    const running = before.then(async () => {
      this.operations.set(databaseId, operation);
      try {
        return await work();
      } finally {
        this.operations.delete(databaseId);
      }
    });
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.last.set(databaseId, settled);
    void settled.then(() => this.last.get(databaseId) === settled && this.last.delete(databaseId));
    return running;
  }

  private async requireExisting(databaseId: string): Promise<void> {
    if (!(await this.options.store.list()).includes(databaseId)) throw missing(databaseId);
  }

  private async requireMissing(databaseId: string): Promise<void> {
    if ((await this.options.store.list()).includes(databaseId))
      throw conflict('a database with this id already exists');
  }

  private async requireConfirmed(databaseId: string, confirmation: string): Promise<void> {
    if (confirmation === databaseId) return;
    const summary =
      confirmation === '' ? null : (await this.options.jobs.inspect(databaseId).catch(() => null))?.summary;
    if (summary?.identity === confirmation.toLowerCase()) return;
    throw new RockpoolError('request-invalid', { problem: '`confirm` must be the id or the identity of the database' });
  }

  /** Receives a file, runs `work`, and removes the file. */
  private async receiving<Result>(
    body: ReadableStream<Uint8Array> | null,
    work: (path: string, sizeBytes: number) => Promise<Result>,
  ): Promise<Result> {
    const received = incomingPath(this.options.dataDir);
    try {
      return await work(received, await this.receive(body, received));
    } finally {
      await rm(received, { force: true });
    }
  }

  /** Writes a body to a file, and returns its size. Throws `frame-too-large` or `server-disk-full`. */
  private async receive(body: ReadableStream<Uint8Array> | null, path: string): Promise<number> {
    const limitBytes = this.options.maxImportBytes ?? DEFAULT_MAX_IMPORT_BYTES;
    let sizeBytes = 0;
    let checkedBytes = -SPACE_CHECK_BYTES;
    const checked = async function* (this: Lifecycle, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        sizeBytes += chunk.length;
        if (sizeBytes > limitBytes) throw new RockpoolError('frame-too-large', { sizeBytes, limitBytes });
        if (sizeBytes - checkedBytes >= SPACE_CHECK_BYTES) this.requireSpace(SPACE_CHECK_BYTES);
        if (sizeBytes - checkedBytes >= SPACE_CHECK_BYTES) checkedBytes = sizeBytes;
        yield chunk;
      }
    }.bind(this);
    await pipeline(Readable.from(checked(body ?? Readable.from([]))), createWriteStream(path));
    if (sizeBytes === 0) throw new RockpoolError('request-invalid', { problem: 'the request body is empty' });
    return sizeBytes;
  }

  /** Checks a received file, and writes the file to install. */
  private async stage(databaseId: string, received: string): Promise<string> {
    this.requireSpace(statSync(received).size);
    const staged = incomingPath(this.options.dataDir);
    try {
      await this.options.jobs.stage(databaseId, received, staged);
      return staged;
    } catch (error) {
      for (const suffix of ['', '-wal', '-shm', '-sums']) rmSync(staged + suffix, { force: true });
      throw error;
    }
  }

  private install(databaseId: string, staged: string): string | null {
    const { dataDir, devices } = this.options;
    beginFileChange(dataDir, databaseId, { kind: 'install', staged: basename(staged) });
    const kept = finishFileChange(dataDir, databaseId, () => undefined);
    devices.forget(databaseId);
    return kept === null ? null : basename(kept);
  }

  private requireSpace(neededBytes: number): void {
    const { dataDir } = this.options;
    if (!existsSync(dataDir)) return;
    const { bavail, bsize } = statfsSync(dataDir);
    if (bavail * bsize < neededBytes + RESERVE_BYTES) throw new RockpoolError('server-disk-full');
  }
}
