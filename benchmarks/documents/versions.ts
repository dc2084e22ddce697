// A thousand versions of one document, kept by the server: one device writes them, and reads old ones. In Node.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../packages/client/src/index.ts';
import { createClient, inProcess } from '../../packages/client/src/node/index.ts';
import { defineSchema } from '../../packages/client/src/schema/index.ts';
import { createSyncServer, type SyncServer } from '../../packages/sync-server/src/index.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { cpuMs } from '../../tests/kit/cpu-time.ts';
import type { Target } from '../report/target.ts';
import { documentOf } from './dataset.ts';

const page = sqliteTable('page', { id: text().primaryKey(), content: text() });
const schema = defineSchema(
  { page },
  {
    history: [page],
    merge: [{ table: page, documents: [{ column: page.content, text: ['body'], maxLength: 2 ** 21 }] }],
  },
);

const BYTES = 1024 * 1024;
const READS = 5;

/** Times are CPU time of the process, which is the device and the server. Throws if a result is wrong. */
export async function measureVersions(
  count: number,
): Promise<{ readonly workload: string; readonly unit: string; readonly value: number }[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'rockpool-versions-'));
  let nowMs = Date.now();
  /** Opens the server and a new device, and closes both, so that the server's files are complete afterwards. */
  const session = async <T>(body: (client: Client) => Promise<T>): Promise<T> => {
    const server: SyncServer = createSyncServer({
      dataDir,
      schema,
      secret: 'a secret of this benchmark, long enough',
      now: () => nowMs,
      log: () => undefined,
    });
    await server.ready();
    const client = await createClient({
      name: 'pages',
      schema,
      sync: {
        url: 'ws://in-process',
        transport: inProcess(server),
        databaseId: 'pages',
        principal: 'ann',
        token: () => server.issueToken({ principal: 'ann', databases: ['pages'], ttlMs: 86_400_000_000 }),
      },
    });
    try {
      await untilDelivered(client);
      return await body(client);
    } finally {
      await client.close();
      await server.close();
    }
  };
  try {
    await session(async (client) => {
      await client.execute('INSERT INTO page VALUES (?, ?)', ['p', documentOf(0, BYTES)]).synced;
    });
    const oneBytes = sizeOf(dataDir);
    const startMs = cpuMs();
    await session(async (client) => {
      for (let version = 1; version <= count; version++) {
        // Makes each write a version of its own instead of a continuation of the previous one.
        nowMs += 10 * 60_000;
        await client.execute(`UPDATE page SET content = json_set(content, '$.items[' || ? || '].note', ?)`, [
          version % 1000,
          `version ${version}`,
        ]).synced;
      }
    });
    const writeMs = (cpuMs() - startMs) / count;
    const allBytes = sizeOf(dataDir);
    const { lookUpMs, diffMs } = await session(async (client) => {
      const history = (await client.history('page', 'p')).document<{ items: { note: string }[] }>('content');
      const first = await history.page({ limit: 1 });
      const newest = first.versions[0]?.version as number;
      const oldest = newest - count;
      const timed = async (body: (at: number) => Promise<void>): Promise<number> => {
        await body(0);
        const beganMs = cpuMs();
        for (let at = 1; at <= READS; at++) await body(at);
        return (cpuMs() - beganMs) / READS;
      };
      return {
        lookUpMs: await timed(async (at) => {
          const content = await history.at(oldest + 1 + at);
          if (content?.items[1 + at]?.note !== `version ${1 + at}`)
            throw new Error('the look-up returned the wrong version');
        }),
        diffMs: await timed(async (at) => {
          const changes = await history.diff(oldest + 1 + at, newest - at);
          if (changes.length !== count - 1 - 2 * at)
            throw new Error(`the diff has ${changes.length} changes instead of ${count - 1 - 2 * at}`);
        }),
      };
    });
    return [
      { workload: 'versions: CPU of a version', unit: 'ms', value: writeMs },
      { workload: 'versions: disk of all / disk of one', unit: '×', value: allBytes / oneBytes },
      { workload: 'versions: look-up in an old one', unit: 'ms', value: lookUpMs },
      { workload: 'versions: diff of two', unit: 'ms', value: diffMs },
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function versionTargets(count: number): Target[] {
  const target = (workload: string, atMost: number): Target => ({
    workload: `versions: ${workload}`,
    title: `${count.toLocaleString('en-US')} versions of a document of 1 MB, each with one changed note`,
    variant: '',
    atMost,
    of: 'absolute',
  });
  return [target('disk of all / disk of one', 1.5), target('look-up in an old one', 150), target('diff of two', 150)];
}

/** Waits until the device has what the server has. */
async function untilDelivered(client: Client): Promise<void> {
  if (client.status.current.state === 'up-to-date') return;
  await new Promise<void>((resolve) => {
    const stop = client.status.subscribe(({ state }) => {
      if (state !== 'up-to-date') return;
      stop();
      resolve();
    });
  });
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
