import type { SqlParam } from '#client/rpc/sql-value.ts';
import type { TouchedTables } from '#client/rpc/query-dependencies.ts';
import type { WriteOutcome, WriteRequest } from '#client/rpc/write-request.ts';
import { newId } from '#client/new-id.ts';
import type { OpenDatabase, OpenDatabaseOptions } from '#client/worker/database/open-database.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import type { SyncDatabase } from '#client/worker/sync/sync-engine.ts';
import { openInMemory } from '#client/testing/worker/test-database.ts';

/** An open database and a function that closes it, with its storage if it has one. */
export interface Opened {
  readonly database: OpenDatabase;
  close(): void | Promise<void>;
}

/** The platform's clocks and random bytes, instead of the constant ones of unit tests. */
export const REAL_PLATFORM = {
  randomBytes: (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count)),
  nowMs: (): number => Date.now(),
  elapsedMs: (): number => performance.now(),
};

/** Opens a database in memory, on the platform's clocks. */
export function inMemory(options: Partial<OpenDatabaseOptions> = {}): Opened {
  const database = openInMemory({ ...REAL_PLATFORM, ...options });
  return { database, close: () => database.close() };
}

/**
 * The real database of one device, in this process, and its side of sync. Subclasses decide how it reaches a server.
 */
export class TestDevice {
  readonly database: OpenDatabase;
  readonly sync: SyncDatabase;
  /** Called after deliveries with the changes that live queries are notified of. */
  onApplied: (touched: TouchedTables) => void = () => undefined;
  protected readonly opened: Opened;

  constructor(opened: Opened, elapsedMs: () => number = REAL_PLATFORM.elapsedMs) {
    this.opened = opened;
    this.database = opened.database;
    this.sync = toSyncDatabase({
      database: opened.database,
      elapsedMs,
      onApplied: (touched) => this.onApplied(touched),
    });
  }

  /** Runs one statement in a transaction. Throws the database's error. */
  write(sql: string, ...params: readonly SqlParam[]): void {
    this.request({ statements: [{ sql, params }] });
  }

  /** Runs several statements in one transaction. Throws the database's error. */
  writeAll(...statements: readonly (string | readonly [sql: string, ...params: SqlParam[]])[]): void {
    this.request({
      statements: statements
        .map((given) => (typeof given === 'string' ? ([given] as const) : given))
        .map(([sql, ...params]) => ({ sql, params })),
    });
  }

  /** Runs a request under a new id. Throws the database's error. */
  request(request: Omit<WriteRequest, 'id'>): WriteOutcome {
    return this.database.write({ id: this.requestId(), ...request });
  }

  rows(sql: string): unknown[][] {
    return this.database.connection.rows(sql) as unknown[][];
  }

  protected requestId(): string {
    return newId();
  }
}
