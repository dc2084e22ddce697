import type { Client, ClientOptions } from '#client/index.ts';
import { createDevice, inProcess, type Device } from '#client/node/index.ts';
import { createSyncServer, type SyncServer, type SyncServerOptions } from '#sync-server/index.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { afterEach, beforeEach, vi, type MockInstance } from 'vitest';

type Role = NonNullable<Parameters<SyncServer['issueToken']>[0]['role']>;

export interface OpenOptions extends Partial<Pick<ClientOptions, 'schema' | 'name' | 'migrations'>> {
  readonly principal?: string;
  readonly role?: Role;
  readonly databaseId?: string;
  /** Default: a new device. */
  readonly device?: Device;
}

/** A server in this process, and clients of it, each on a device of its own. */
export class ClientsOfServer {
  server!: SyncServer;
  readonly clients: { close(): Promise<void> }[] = [];
  /** The time of the server and of every device, which a test sets. */
  nowMs: number = Date.now();
  private readonly options: Partial<SyncServerOptions> & Pick<SyncServerOptions, 'schema'>;
  private clock: MockInstance | null = null;

  constructor(options: Partial<SyncServerOptions> & Pick<SyncServerOptions, 'schema'>) {
    this.options = options;
  }

  /** Starts a server with the options; a later call starts a different server. */
  async start(options: Partial<SyncServerOptions> = {}): Promise<void> {
    this.server = createSyncServer({
      dataDir: temporaryFolder(),
      secret: 'a secret of this test, long enough',
      log: () => undefined,
      now: () => this.nowMs,
      ...this.options,
      ...options,
    });
    // Devices whose clock differs from the server's, more with every step, would count as having set it.
    this.clock ??= vi.spyOn(Date, 'now').mockImplementation(() => this.nowMs);
    await this.server.ready();
  }

  async open({
    principal = 'ann',
    role,
    databaseId = 'budget',
    name = 'budget',
    schema = this.options.schema,
    migrations,
    device = createDevice(),
  }: OpenOptions = {}): Promise<Client> {
    const { server } = this;
    const access = { principal, databases: [databaseId], ttlMs: 36_000_000, ...(role !== undefined && { role }) };
    const client = await device.createClient({
      name,
      schema,
      ...(migrations !== undefined && { migrations }),
      sync: {
        url: 'ws://in-process',
        transport: inProcess(server),
        databaseId,
        principal,
        token: () => server.issueToken(access),
      },
    });
    return this.closesLater(client);
  }

  /** Closes the client before the server. */
  closesLater<C extends { close(): Promise<void> }>(client: C): C {
    this.clients.push(client);
    return client;
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.close()));
    await this.server.close();
    this.clock?.mockRestore();
    this.clock = null;
  }
}

/** Starts a server for each test of the file or suite. */
export function useClientsOfServer(...given: ConstructorParameters<typeof ClientsOfServer>): ClientsOfServer {
  const world = new ClientsOfServer(...given);
  beforeEach(async () => {
    world.nowMs = Date.now();
    await world.start();
  });
  afterEach(() => world.stop());
  return world;
}

/** Resolves once the client's query returns a row whose first column is the value. */
export async function shows(client: Client, sql: string, value: unknown): Promise<void> {
  for await (const { rows } of client.live(sql)) if (Object.values(rows[0] ?? {})[0] === value) return;
}
