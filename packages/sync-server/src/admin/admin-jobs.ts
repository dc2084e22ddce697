import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { RockpoolError, type ErrorData } from '@rockpool/shared';
import type { BackupPlace } from '../backup/open-destination.ts';
import type { FoundMoment } from '../history/past-moment.ts';
import type { PostgresSource } from '../postgres/shard.ts';
import type { DatabaseSummary } from '../store/inspect-database.ts';
import type { StoredSite } from '../store/inspect-sites.ts';

/** Where a database is: in a file, or in PostgreSQL at a URL. */
export type JobSource = { readonly path: string } | { readonly postgres: PostgresSource; readonly databaseId: string };

export type AdminJob =
  | { readonly kind: 'inspect'; readonly source: JobSource }
  /** Writes a copy to the file `to`. */
  | { readonly kind: 'export'; readonly source: JobSource; readonly to: string }
  /** Writes a new database to the file `to`, with the rows as of a past time. See writePastDatabase. */
  | {
      readonly kind: 'export-past';
      readonly source: JobSource;
      readonly to: string;
      readonly timeMs: number;
      readonly nowMs: number;
    }
  /** Fetches a database from its backup into the file `to`. See fetchBackup. */
  | {
      readonly kind: 'fetch-backup';
      readonly place: BackupPlace;
      readonly databaseId: string;
      readonly to: string;
      readonly atMs: number;
    }
  /** Creates an empty database, in the file `to` or in PostgreSQL. `schema` is encoded by encodeSchema. */
  | { readonly kind: 'create'; readonly databaseId: string; readonly schema: string; readonly to: string }
  | { readonly kind: 'create-in-postgres'; readonly databaseId: string; readonly postgres: PostgresSource }
  /** Checks the file `from` and writes the file `to`, which can be installed as the database. */
  | {
      readonly kind: 'stage';
      readonly databaseId: string;
      readonly schema: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'import-to-postgres';
      readonly databaseId: string;
      readonly postgres: PostgresSource;
      readonly from: string;
    }
  | { readonly kind: 'delete-in-postgres'; readonly databaseId: string; readonly postgres: PostgresSource };

/** A copy of a database at one moment. */
export interface CopiedFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** A database that was fetched from its backup. */
export interface FetchedBackup {
  /** The time of the newest commit in it, ms since 1970. */
  readonly timeMs: number;
  readonly watermark: number | null;
}

export type JobAnswer = { readonly result: unknown } | { readonly error: ErrorData };

export interface DatabaseFacts {
  readonly summary: DatabaseSummary;
  readonly sites: readonly StoredSite[];
}

/** The maximum number of jobs that run at once. Each uses one core, and the server needs the other cores. */
const MAX_RUNNING = 2;

export interface AdminJobsOptions {
  readonly pathOf: (databaseId: string) => string;
  /** The destination of the continuous backup. Null if there is none. */
  readonly backup: BackupPlace | null;
  /** The URL of PostgreSQL, or null if databases are files. */
  readonly postgres: PostgresSource | null;
  /** The schema in the encoding of encodeSchema. */
  readonly schema: string;
}

/** Runs jobs on whole databases in separate processes. Each call rejects with an error of the store. */
export class AdminJobs {
  private readonly options: AdminJobsOptions;
  private readonly waiting: (() => void)[] = [];
  private readonly processes = new Set<ChildProcess>();
  private running = 0;
  private isClosed = false;

  constructor(options: AdminJobsOptions) {
    this.options = options;
  }

  inspect(databaseId: string): Promise<DatabaseFacts> {
    return this.run({ kind: 'inspect', source: this.sourceOf(databaseId) });
  }

  /** Rejects with `database-damaged` if pages of the file differ from their checksums. */
  export(databaseId: string, to: string): Promise<CopiedFile> {
    return this.run({ kind: 'export', source: this.sourceOf(databaseId), to });
  }

  /** Writes a new database with the rows of a past time. Rejects like writePastDatabase. */
  exportPast(
    databaseId: string,
    to: string,
    times: { readonly timeMs: number; readonly nowMs: number },
  ): Promise<FoundMoment> {
    return this.run({ kind: 'export-past', source: this.sourceOf(databaseId), to, ...times });
  }

  /**
   * Writes the state of a database at `atMs`, in ms since 1970, from its backup into the file `to`. Rejects with
   * `request-invalid` if the backup has no copy from that time, and with `backup-damaged` or `backup-unavailable`.
   */
  fetchBackup(databaseId: string, to: string, atMs: number): Promise<FetchedBackup> {
    const { backup } = this.options;
    if (backup === null)
      return Promise.reject(
        new RockpoolError('request-invalid', {
          problem: 'the server has no continuous backup; start it with --backup-to',
        }),
      );
    // Omits the credentials, which the process reads from its environment.
    const { to: place, endpoint, region, pathStyle } = backup;
    return this.run({ kind: 'fetch-backup', place: { to: place, endpoint, region, pathStyle }, databaseId, to, atMs });
  }

  /** `to` is the database file to create; PostgreSQL ignores it. */
  create(databaseId: string, to = ''): Promise<void> {
    const { postgres, schema } = this.options;
    return postgres === null
      ? this.run({ kind: 'create', databaseId, schema, to })
      : this.run({ kind: 'create-in-postgres', databaseId, postgres });
  }

  /**
   * Rejects with `request-invalid` if the file is not a database, and with `schema-incompatible` if its schema does not
   * fit.
   */
  stage(databaseId: string, from: string, to: string): Promise<void> {
    return this.run({ kind: 'stage', databaseId, schema: this.options.schema, from, to });
  }

  import(databaseId: string, from: string): Promise<void> {
    return this.run({ kind: 'import-to-postgres', databaseId, postgres: this.postgres, from });
  }

  delete(databaseId: string): Promise<void> {
    return this.run({ kind: 'delete-in-postgres', databaseId, postgres: this.postgres });
  }

  private get postgres(): PostgresSource {
    return this.options.postgres ?? '';
  }

  private sourceOf(databaseId: string): JobSource {
    const { postgres, pathOf } = this.options;
    return postgres === null ? { path: pathOf(databaseId) } : { postgres, databaseId };
  }

  /** Ends running jobs, which reject with `database-unavailable`. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(
      [...this.processes].map((child) => {
        child.kill('SIGKILL');
        return new Promise((resolve) => child.once('close', resolve));
      }),
    );
  }

  private async run<Result>(job: AdminJob): Promise<Result> {
    if (this.running >= MAX_RUNNING) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running++;
    try {
      const answer = await this.runInProcess(job);
      if ('error' in answer) throw RockpoolError.fromData(answer.error);
      return answer.result as Result;
    } finally {
      // Starts the next job when one has ended.
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }

  private runInProcess(job: AdminJob): Promise<JobAnswer> {
    return new Promise((resolve, reject) => {
      const unavailable = (problem: string): void => reject(new RockpoolError('database-unavailable', { problem }));
      if (this.isClosed) return unavailable('the server is stopping');
      const child = fork(fileURLToPath(new URL('./admin-process.ts', import.meta.url)), { serialization: 'advanced' });
      this.processes.add(child);
      child.once('message', resolve);
      child.once('error', reject);
      child.once('close', (code, signal) => {
        this.processes.delete(child);
        unavailable(
          this.isClosed
            ? 'the server is stopping'
            : `the process of this operation ended unexpectedly (${signal ?? `exit code ${code}`}); it may lack memory`,
        );
      });
      child.send(job, (error) => error !== null && reject(error));
    });
  }
}
