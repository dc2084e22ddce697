import { NAMESPACE, type Connections } from './connection.ts';

/** Where the instances of one store are, for requests that reach the wrong instance. */
export interface InstanceDirectory {
  /** Registers this instance. Repeat the call: entries older than a day are removed. */
  enter(instance: string, url: string): Promise<void>;
  /** The URLs of all instances, by id. */
  urls(): Promise<ReadonlyMap<string, string>>;
  leave(instance: string): Promise<void>;
}

export const INSTANCE_TABLE_SQL: string = `CREATE TABLE IF NOT EXISTS ${NAMESPACE}.rockpool_instance (
  id text COLLATE "C" PRIMARY KEY,             -- random, of one process
  url text NOT NULL,                           -- at which other instances reach it
  entered_at timestamptz NOT NULL
)`;

export class PostgresInstances implements InstanceDirectory {
  private readonly connections: Connections;
  private readonly ready: () => Promise<void>;

  /** `ready` resolves once the table exists. */
  constructor(connections: Connections, ready: () => Promise<void>) {
    this.connections = connections;
    this.ready = ready;
  }

  async enter(instance: string, url: string): Promise<void> {
    await this.ready();
    await this.connections.poll(
      `INSERT INTO ${NAMESPACE}.rockpool_instance VALUES ($1, $2, now()) ON CONFLICT (id) DO UPDATE SET url = excluded.url, entered_at = excluded.entered_at`,
      [instance, url],
    );
    await this.connections.poll(
      `DELETE FROM ${NAMESPACE}.rockpool_instance WHERE entered_at < now() - interval '1 day'`,
    );
  }

  async urls(): Promise<ReadonlyMap<string, string>> {
    await this.ready();
    return new Map(
      (await this.connections.poll(`SELECT id, url FROM ${NAMESPACE}.rockpool_instance`)) as [string, string][],
    );
  }

  async leave(instance: string): Promise<void> {
    await this.connections.poll(`DELETE FROM ${NAMESPACE}.rockpool_instance WHERE id = $1`, [instance]);
  }
}
