import { createDevice } from '#client/node/index.ts';
import type { Client } from '#client/client.ts';
import { issueToken } from '#sync-server/auth/jwt.ts';
import { ServerProcess } from '#sync-server/testing/server-process.ts';
import { TEST_SCHEMA } from '#sync-server/testing/test-schema.ts';
import { DATABASE, TEST_SECRET } from '#sync-server/testing/test-server.ts';
import { ServerGateway } from './server-gateway.ts';

const WRITERS = 3;
/** The maximum of unacknowledged writes per device. */
const MAX_UNSYNCED = 20;

/** One device's own record of its writes. */
interface Written {
  readonly client: Client;
  readonly principal: string;
  /** The numbers of writes whose local promise resolved. */
  readonly done: Set<number>;
  /** The numbers of writes whose `synced` resolved. */
  readonly acknowledged: Set<number>;
}

export interface ServerKillsOptions {
  readonly folder: string;
  readonly kills: number;
  /** Called before each kill while the server runs, and after it; for example to fill the disk and to free space. */
  readonly beforeKill?: (kill: number, server: ServerProcess, clients: readonly Client[]) => Promise<void>;
  readonly afterKill?: () => void;
}

export interface ServerKillsResult {
  readonly written: number;
  readonly acknowledgedBeforeEnd: number;
  /** The problems, one sentence each. */
  readonly faults: readonly string[];
}

/**
 * Kills the command-line server repeatedly while real clients write through it. In the end every write must be on the
 * server and on every device once: rows by their number, additions to one counter by their sum.
 */
export async function killServer({
  folder,
  kills,
  beforeKill = () => Promise.resolve(),
  afterKill = () => undefined,
}: ServerKillsOptions): Promise<ServerKillsResult> {
  const gateway = await ServerGateway.open();
  const devices: Written[] = [];
  let isOver = false;
  const start = async (): Promise<ServerProcess> => {
    const server = await ServerProcess.start(folder);
    gateway.target = Number(new URL(server.url).port);
    for (const { client } of devices) await client.sync.tryNow();
    return server;
  };
  let server = await start();
  for (let i = 0; i < WRITERS; i++) {
    const principal = `writer-${i}`;
    const token = (): Promise<string> =>
      issueToken(
        new TextEncoder().encode(TEST_SECRET),
        { principal, databases: [DATABASE], role: 'editor', ttlMs: 3_600_000 },
        Date.now(),
      );
    const client = await createDevice().createClient({
      name: 'killed',
      schema: TEST_SCHEMA,
      sync: { url: gateway.url, databaseId: DATABASE, token },
      onError: () => undefined,
    });
    devices.push({ client, principal, done: new Set(), acknowledged: new Set() });
  }
  await devices[0]?.client.execute(`INSERT INTO notes (id, title, reads) VALUES ('shared', 'a counter', 0)`).synced;
  const writing = Promise.all(devices.map((device) => write(device, () => isOver)));
  const acknowledged = (): number => devices.reduce((sum, device) => sum + device.acknowledged.size, 0);
  for (let kill = 0; kill < kills; kill++) {
    const before = acknowledged();
    await reached(() => acknowledged() > before + (kill % 40));
    await beforeKill(
      kill,
      server,
      devices.map(({ client }) => client),
    );
    gateway.target = null;
    await server.signal('SIGKILL');
    afterKill();
    server = await start();
  }
  const acknowledgedBeforeEnd = acknowledged();
  isOver = true;
  await writing;
  const faults = await judge(devices);
  for (const { client } of devices) await client.close();
  await server.signal('SIGTERM');
  await gateway.close();
  return { written: devices.reduce((sum, { done }) => sum + done.size, 0), acknowledgedBeforeEnd, faults };
}

/** Writes rows and adds to the counter until the end, and waits until everything is acknowledged. */
async function write({ client, principal, done, acknowledged }: Written, isOver: () => boolean): Promise<void> {
  const underWay = new Set<Promise<void>>();
  for (let number = 1; !isOver(); number++) {
    const write = client.batch([
      {
        sql: 'INSERT INTO entries (id, amount, note) VALUES (?, ?, ?)',
        params: [`${principal}-${number}`, number, 'x'.repeat(number % 500)],
      },
      { sql: `UPDATE notes SET reads = reads + 1 WHERE id = 'shared'`, params: [] },
    ]);
    await write;
    done.add(number);
    const synced = write.synced.then(() => void acknowledged.add(number));
    underWay.add(synced);
    void synced.finally(() => underWay.delete(synced));
    if (underWay.size >= MAX_UNSYNCED) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

async function judge(devices: readonly Written[]): Promise<string[]> {
  const faults: string[] = [];
  const writes = devices.reduce((sum, { done }) => sum + done.size, 0);
  for (const { client, principal: reader } of devices) {
    await settled(client, writes);
    const [counter] = await client.query<{ reads: number }>(`SELECT reads FROM notes WHERE id = 'shared'`);
    if (counter?.reads !== writes) faults.push(`${reader}: the counter is ${counter?.reads} after ${writes} additions`);
    for (const { principal, done } of devices) {
      const rows = await client.query<{ amount: number }>(
        'SELECT amount FROM entries WHERE id LIKE ? ORDER BY amount',
        [`${principal}-%`],
      );
      if (rows.length !== done.size || rows.some(({ amount }, i) => amount !== i + 1))
        faults.push(`${reader} has ${rows.length} rows of ${principal}, who wrote ${done.size}`);
    }
    const { rejected, lost } = await troubles(client);
    if (rejected + lost > 0) faults.push(`${reader} has ${rejected} rejected changesets and ${lost} conflicts`);
  }
  return faults;
}

async function troubles(client: Client): Promise<{ rejected: number; lost: number }> {
  const [row] = await client.query<{ count: number }>('SELECT count(*) AS count FROM rockpool_conflict');
  return { rejected: (await client.rejected.list()).length, lost: row?.count ?? 0 };
}

/** Waits until everything has arrived, or until nothing has arrived for a long time. */
async function settled(client: Client, rows: number): Promise<void> {
  const counted = client.live<{ count: number }>('SELECT count(*) AS count FROM entries');
  await new Promise<void>((resolve) => {
    let stop = (): void => undefined;
    const deadline = setTimeout(() => {
      stop();
      resolve();
    }, 60_000);
    stop = counted.subscribe(({ rows: [row] }) => {
      deadline.refresh();
      if ((row?.count ?? 0) < rows) return;
      clearTimeout(deadline);
      setImmediate(() => stop());
      resolve();
    });
  });
}

/** Resolves once the condition holds. Checks it on every turn of the event loop, which the clients' messages drive. */
async function reached(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
