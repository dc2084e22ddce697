import { createRequire } from 'node:module';
import type pg from 'pg';
import { RockpoolError } from '@rockpool/shared';
import { PoolPatience } from './pool-patience.ts';

/** The PostgreSQL schema of every table that the server keeps. */
export const NAMESPACE = 'rockpool';

/** Opens a pool of connections with the settings of `pg`. */
export type OpenPool = (config: pg.PoolConfig) => pg.Pool;

// Loads the driver on first use, so that a server with SQLite files does not need it.
const openDriverPool: OpenPool = (config) => {
  const { Client, Pool } = createRequire(import.meta.url)('pg') as typeof pg;
  // Limits the time to open a connection. As a setting of the pool, the limit would also apply to the wait for a
  // connection that another caller has.
  class LimitedClient extends Client {
    constructor(settings?: pg.ClientConfig) {
      super({ ...settings, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    }
  }
  return new Pool({ ...config, Client: LimitedClient, verify: refuseStandby });
};

/** What PostgreSQL answers to a write at a standby. */
const READ_ONLY = '25006';

/**
 * Refuses a connection to a standby, such as the former primary after a failover: its rows and roles may be old. The
 * connections of a primary end before it becomes a standby.
 */
function refuseStandby(client: pg.PoolClient, done: (error?: Error) => void): void {
  const question = { text: 'SELECT pg_is_in_recovery()', rowMode: 'array' as const, query_timeout: CONNECT_TIMEOUT_MS };
  client.query<boolean[]>(question).then(
    ({ rows }) =>
      done(
        rows[0]?.[0] === true ? Object.assign(new Error('PostgreSQL is a standby'), { code: READ_ONLY }) : undefined,
      ),
    (error: Error) => done(error),
  );
}

/** The part of the driver that the store uses. */
export interface Connection {
  /** Without parameters, `sql` may contain several statements; then returns the rows of the last one that has any. */
  query(sql: string, parameters?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>;
}

/** After this time, an attempt to open a connection is given up, so that the next one can start. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * How long a statement may wait for its response: longer than PostgreSQL's own statement timeout. Without this limit, a
 * connection that is silent because a machine on the path has failed would last a quarter of an hour and block all
 * pushes of a database.
 */
const ANSWER_DEADLINE_MS = 70_000;

/** How long a poll or a message waits for its response. */
const POLL_DEADLINE_MS = 10_000;

/** Default limit per process. Each commit takes one connection, and a database commits one at a time. */
const MAX_CONNECTIONS = 16;

/** The bus permanently uses one connection to listen; everything else needs at least one more. */
export const MIN_CONNECTIONS = 2;

/** Divides the connections of a process between the accepting thread and the threads that own databases. */
export function divideConnections(
  threads: number,
  total: number = MAX_CONNECTIONS,
): { readonly accepting: number; readonly each: number } {
  if (threads <= 1) return { accepting: total, each: 0 };
  const each = Math.max(MIN_CONNECTIONS, Math.floor((total - MIN_CONNECTIONS) / threads));
  return { accepting: Math.max(MIN_CONNECTIONS, total - threads * each), each };
}

/*
 * A process that hangs in the middle of a commit blocks the other instances on that database until these timeouts.
 * After SIGKILL they are not needed: the operating system closes the sockets.
 */
const TRANSACTION_SETTINGS = `SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '30s'`;

/**
 * Advisory lock that every commit holds shared and a schema change holds exclusively, so that no commit sees a table
 * that is changing. An arbitrary number that nothing else uses.
 */
export const SCHEMA_LOCK = 7_205_759_403;

/** Connections to one PostgreSQL database. */
export class Connections {
  private readonly pool: pg.Pool;
  private readonly patience: PoolPatience;
  private readonly pollDeadlineMs: number;

  /** `maxConnections` is at least MIN_CONNECTIONS if a bus listens. */
  constructor(
    url: string,
    {
      maxConnections = MAX_CONNECTIONS,
      answerDeadlineMs = ANSWER_DEADLINE_MS,
      pollDeadlineMs = POLL_DEADLINE_MS,
      openPool = openDriverPool,
      patience = new PoolPatience(),
    }: {
      readonly maxConnections?: number | undefined;
      readonly answerDeadlineMs?: number;
      readonly pollDeadlineMs?: number;
      /** Default: the driver's pool. */
      readonly openPool?: OpenPool;
      readonly patience?: PoolPatience;
    } = {},
  ) {
    this.patience = patience;
    this.pollDeadlineMs = pollDeadlineMs;
    this.pool = openPool({
      connectionString: url,
      max: maxConnections,
      query_timeout: answerDeadlineMs,
      application_name: 'rockpool-server',
    });
    // A broken connection fails its next query, and the pool replaces an idle one. Without these listeners the event
    // would end the process.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => {
      patience.moved();
      client.on('error', () => undefined);
    });
  }

  /** Connections by state, and the queries that wait for one. */
  counts(): Readonly<Record<'idle' | 'busy' | 'waiting', number>> {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { idle: idleCount, busy: totalCount - idleCount, waiting: waitingCount };
  }

  /** Runs one statement outside of a transaction. Throws `database-unavailable`. */
  async query(
    sql: string,
    parameters: readonly unknown[] = [],
    answerDeadlineMs?: number,
  ): Promise<readonly (readonly unknown[])[]> {
    const client = await this.connect();
    let isBroken = true;
    try {
      const rows = await this.ask(client, sql, parameters, answerDeadlineMs);
      isBroken = false;
      return rows;
    } finally {
      client.release(isBroken);
    }
  }

  /**
   * Like `query`, for a short statement whose caller soon sends another one: gives up a silent connection after 10 s.
   */
  poll(sql: string, parameters: readonly unknown[] = []): Promise<readonly (readonly unknown[])[]> {
    return this.query(sql, parameters, this.pollDeadlineMs);
  }

  /**
   * Runs `body` in a transaction that sees only the rows of one database, provided that the server's role cannot bypass
   * row-level security. `body` returns whether to commit. Throws the errors of `body`, and `database-unavailable`:
   * unless `body` threw it, the transaction may or may not have committed.
   */
  async transaction<Result>(
    databaseId: string | null,
    mode: 'READ WRITE' | 'REPEATABLE READ, READ ONLY',
    body: (connection: Connection) => Promise<{ readonly commit: boolean; readonly result: Result }>,
  ): Promise<Result> {
    const client = await this.connect();
    const connection: Connection = { query: (sql, parameters) => this.ask(client, sql, parameters) };
    let isBroken = true;
    try {
      // Explicit, because the role or the database may have another default.
      const isolation = mode === 'READ WRITE' ? `READ COMMITTED, ${mode}` : mode;
      // An id contains only letters, digits, _ and -; it is escaped as a second defence.
      const scope = databaseId === null ? '' : `; SET LOCAL rockpool.database = ${client.escapeLiteral(databaseId)}`;
      const lock =
        databaseId === null || mode !== 'READ WRITE' ? '' : `; SELECT pg_advisory_xact_lock_shared(${SCHEMA_LOCK})`;
      await connection.query(`BEGIN ISOLATION LEVEL ${isolation}; ${TRANSACTION_SETTINGS}${scope}${lock}`);
      const { commit, result } = await body(connection);
      await connection.query(commit ? 'COMMIT' : 'ROLLBACK');
      isBroken = false;
      return result;
    } finally {
      // After a failure, closing the connection is the safest way to roll back.
      client.release(isBroken);
    }
  }

  /** Takes a connection out of the pool until the caller releases it. Throws `database-unavailable`. */
  async connect(): Promise<pg.PoolClient> {
    const pending = this.pool.connect();
    try {
      return await this.patience.wait(pending);
    } catch (error) {
      // A connection that arrives too late returns to the pool.
      pending.then(
        (client) => client.release(),
        () => undefined,
      );
      throw unavailable(error);
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async ask(
    client: pg.PoolClient,
    sql: string,
    parameters?: readonly unknown[],
    answerDeadlineMs?: number,
  ): Promise<readonly (readonly unknown[])[]> {
    const rows = await queryClient(client, sql, parameters, answerDeadlineMs);
    this.patience.moved();
    return rows;
  }
}

async function queryClient(
  client: pg.PoolClient,
  sql: string,
  parameters?: readonly unknown[],
  answerDeadlineMs?: number,
): Promise<readonly (readonly unknown[])[]> {
  try {
    const answer: unknown = await client.query({
      text: sql,
      rowMode: 'array',
      ...(parameters !== undefined && { values: [...parameters] }),
      // The driver takes this setting of a pool also for one statement, which its types omit.
      ...(answerDeadlineMs !== undefined && { query_timeout: answerDeadlineMs }),
    });
    const results = (Array.isArray(answer) ? answer : [answer]) as readonly pg.QueryArrayResult<unknown[]>[];
    return results.findLast(({ rows }) => rows.length > 0)?.rows ?? [];
  } catch (error) {
    throw unavailable(error);
  }
}

/** Whether another transaction kept a lock for longer than TRANSACTION_SETTINGS allow. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof RockpoolError && error.fields['systemCode'] === '55P03';
}

/** `systemCode`: the SQLSTATE, the code of the operating system, or `none`. */
function unavailable(error: unknown): RockpoolError {
  const systemCode = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'none';
  return new RockpoolError('database-unavailable', { problem: 'PostgreSQL', systemCode }, { cause: error });
}
