import { createRequire } from 'node:module';
import type pg from 'pg';
import { RockpoolError } from '@rockpool/shared';

// Where files are the store, the driver costs nothing.
const loadDriver = (): typeof pg => createRequire(import.meta.url)('pg') as typeof pg;

/** What is used of the driver. */
export interface Connection {
  /** Without parameters it may be several statements; the rows are of the last one that has some. */
  query(sql: string, parameters?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>;
}

/** Also for a connection that is free. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * How long a statement may go without its answer: longer than PostgreSQL lets one run. A line that has fallen silent (a
 * machine between that is gone) ends by nothing else for a quarter of an hour, and all pushes of a database would wait
 * for it.
 */
const ANSWER_DEADLINE_MS = 70_000;

/** Of one process, by default. Each commit has one to itself; a database commits one at a time. */
const MAX_CONNECTIONS = 16;

/** One listens to the other instances all the time, and something has to be left for everything else. */
export const MIN_CONNECTIONS = 2;

/*
 * A process that hangs in the middle of a commit holds up the others with that database until then. SIGKILL needs none
 * of it: the system closes its sockets.
 */
const TRANSACTION_SETTINGS = `SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '10s'`;

/**
 * Held, shared, by every commit; alone by whoever changes tables, so that no commit meets a table that is changing. Any
 * number that nobody else uses.
 */
export const SCHEMA_LOCK = 7_205_759_403;

/** Connections to one PostgreSQL database. */
export class Connections {
  private readonly pool: pg.Pool;

  /** `maxConnections`: at least FEWEST_CONNECTIONS where a bus listens. */
  constructor(
    url: string,
    {
      maxConnections = MAX_CONNECTIONS,
      answerDeadlineMs = ANSWER_DEADLINE_MS,
    }: { readonly maxConnections?: number | undefined; readonly answerDeadlineMs?: number } = {},
  ) {
    const { Pool } = loadDriver();
    this.pool = new Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: answerDeadlineMs,
      application_name: 'rockpool-server',
    });
    // Whoever uses a connection that breaks hears of it by their next query, and one that nobody uses is replaced: no
    // reason to end the process.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** One statement by itself. Throws `database-unavailable`. */
  async query(sql: string, parameters: readonly unknown[] = []): Promise<readonly (readonly unknown[])[]> {
    try {
      const { rows } = await this.pool.query<unknown[]>({ text: sql, values: [...parameters], rowMode: 'array' });
      return rows;
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Runs `body` in a transaction that sees one database's rows alone, if the server's role cannot pass row-level
   * security. `body` says whether to commit. Throws what `body` throws, and `database-unavailable`: **then it is not
   * known whether it was committed, unless `body` has thrown it.**
   */
  async transaction<Result>(
    databaseId: string | null,
    mode: 'READ WRITE' | 'REPEATABLE READ, READ ONLY',
    body: (connection: Connection) => Promise<{ readonly commit: boolean; readonly result: Result }>,
  ): Promise<Result> {
    const client = await this.connect();
    const connection: Connection = { query: (sql, parameters) => queryClient(client, sql, parameters) };
    let isBroken = true;
    try {
      const isolation = mode === 'READ WRITE' ? mode : `ISOLATION LEVEL ${mode}`;
      // Ids are letters, digits, _ and -, and are quoted all the same.
      const scope = databaseId === null ? '' : `; SET LOCAL rockpool.database = ${client.escapeLiteral(databaseId)}`;
      const lock =
        databaseId === null || mode !== 'READ WRITE' ? '' : `; SELECT pg_advisory_xact_lock_shared(${SCHEMA_LOCK})`;
      await connection.query(`BEGIN ${isolation}; ${TRANSACTION_SETTINGS}${scope}${lock}`);
      const { commit, result } = await body(connection);
      await connection.query(commit ? 'COMMIT' : 'ROLLBACK');
      isBroken = false;
      return result;
    } finally {
      // Broken or not: closing it is the surest way to roll back.
      client.release(isBroken);
    }
  }

  /** A connection of one's own, for as long as one wants. */
  async connect(): Promise<pg.PoolClient> {
    try {
      return await this.pool.connect();
    } catch (error) {
      throw unavailable(error);
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

async function queryClient(
  client: pg.PoolClient,
  sql: string,
  parameters?: readonly unknown[],
): Promise<readonly (readonly unknown[])[]> {
  try {
    const answer: unknown = await client.query({
      text: sql,
      rowMode: 'array',
      ...(parameters !== undefined && { values: [...parameters] }),
    });
    const results = (Array.isArray(answer) ? answer : [answer]) as readonly pg.QueryArrayResult<unknown[]>[];
    return results.findLast(({ rows }) => rows.length > 0)?.rows ?? [];
  } catch (error) {
    throw unavailable(error);
  }
}

/** Neither the statement nor its values leave this place: only PostgreSQL's code does. */
function unavailable(error: unknown): RockpoolError {
  const systemCode = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'none';
  return new RockpoolError('database-unavailable', { problem: 'PostgreSQL', systemCode });
}
