import pg from 'pg';

/** A role like that of a real host: it owns its tables and cannot bypass row-level security. */
export const ROLE = 'rockpool_app';

/** Begins the names of the databases of tests. */
const PREFIX = 'rockpool_test_';

/** Numbers the databases of this process. */
let databases = 0;

function newName(): string {
  return `${PREFIX}${process.pid}_${performance.timeOrigin.toString(36).replace('.', '_')}_${++databases}`;
}

/** Access to a running PostgreSQL server. */
export class PostgresAccess {
  /** Of a superuser, with the database in which it creates others. */
  readonly administratorUrl: string;
  /** The database that `createPreparedDatabase` copies. */
  private template: Promise<string> | null = null;

  constructor(administratorUrl: string) {
    this.administratorUrl = administratorUrl;
  }

  get host(): string {
    return new URL(this.administratorUrl).hostname;
  }

  get port(): number {
    return Number(new URL(this.administratorUrl).port || 5432);
  }

  /** Creates the role of sync servers, if it does not exist, with the password of the administrator. */
  async createRole(): Promise<void> {
    const existing = await this.query(null, `SELECT 1 FROM pg_roles WHERE rolname = '${ROLE}'`);
    if (existing.length > 0) return;
    const password = pg.escapeLiteral(decodeURIComponent(new URL(this.administratorUrl).password));
    await this.query(null, `CREATE ROLE ${ROLE} LOGIN${password === `''` ? '' : ` PASSWORD ${password}`}`);
  }

  /** Creates an empty database. `url` is for the role of a sync server. */
  async createDatabase(): Promise<{ readonly url: string; readonly name: string }> {
    const name = newName();
    await this.query(null, `CREATE DATABASE ${name} OWNER ${ROLE}`);
    return { name, url: this.urlOf(name) };
  }

  /**
   * Like `createDatabase`, with the tables of a server with TEST_SCHEMA. Copies a database that has them, which takes a
   * third of the time. An engine like PostgreSQL may not copy databases, so another server gets an empty one.
   */
  async createPreparedDatabase(): Promise<{ readonly url: string; readonly name: string }> {
    if ((process.env['ROCKPOOL_TEST_POSTGRES'] ?? '') !== '') return this.createDatabase();
    this.template ??= this.prepareTemplate();
    const template = await this.template;
    const name = newName();
    await this.query(null, `CREATE DATABASE ${name} OWNER ${ROLE} TEMPLATE ${template} STRATEGY file_copy`);
    await this.query(name, 'UPDATE rockpool.rockpool_store SET store_id = gen_random_uuid()');
    return { name, url: this.urlOf(name) };
  }

  private async prepareTemplate(): Promise<string> {
    const { url, name } = await this.createDatabase();
    const [{ Connections }, { prepareSchema }, { TEST_SCHEMA }] = await Promise.all([
      import('../src/postgres/connection.ts'),
      import('../src/store/postgres/prepare-schema.ts'),
      import('./test-schema.ts'),
    ]);
    const connections = new Connections(url);
    await prepareSchema(connections, TEST_SCHEMA);
    await connections.close();
    return name;
  }

  /** Drops the databases that tests have created, in this run or an earlier one. One that cannot be dropped stays. */
  async dropDatabases(): Promise<void> {
    const names = `SELECT datname FROM pg_database WHERE datname ~ '^${PREFIX}[0-9]+_[0-9a-z_]+$'`;
    for (const [name] of await this.query(null, names))
      await this.query(null, `DROP DATABASE ${name as string} WITH (FORCE)`).catch(() => undefined);
  }

  /**
   * The URL of a database for the role of a sync server, optionally through a port of this machine that forwards to
   * this server.
   */
  urlOf(name: string, forwardingPort?: number): string {
    const url = new URL(this.administratorUrl);
    url.username = ROLE;
    url.pathname = name;
    if (forwardingPort !== undefined) url.host = `127.0.0.1:${forwardingPort}`;
    return url.href;
  }

  /** Runs a query as the administrator, who sees all rows. `null` is the administrator's own database. */
  async query(database: string | null, sql: string): Promise<readonly (readonly unknown[])[]> {
    const url = new URL(this.administratorUrl);
    if (database !== null) url.pathname = database;
    const client = new pg.Client(url.href);
    await client.connect();
    try {
      return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
    } finally {
      await client.end();
    }
  }
}
