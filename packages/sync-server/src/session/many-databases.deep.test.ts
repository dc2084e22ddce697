import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { LoadClient, summary, untilAllArrived, type LoadLog } from '../../testing/load-client.ts';
import { serverProcessUnderTest } from '../../testing/server-process-under-test.ts';
import { TestConnection } from '../../testing/test-client.ts';

/** Like households or small companies: some clients write now and then, more only read. */
const DATABASES = 500;
const WRITERS_EACH = 4;
const READERS_EACH = 10;
const WRITES_PER_SECOND = 1_000;
const WRITING_MS = 120_000;

/** Clients that write as soon as their last write is acknowledged, each in its own database. */
const IMPORTERS = 100;
const IMPORTING_MS = 10_000;
const BATCH_ROWS = 20;

const MAX_RESIDENT_BYTES = 1024 ** 3;

/** Clients that connect at once, besides those that reconnect. */
const ARRIVING_AT_ONCE = 200;

const tested = serverProcessUnderTest();
let watching: NodeJS.Timeout | undefined;
afterEach(() => clearInterval(watching));

it('500 databases serve 7,000 clients while 2,000 clients write and reconnect at once, and each gets every row once', async () => {
  const watch = watchServer();
  const timings = { acknowledgedAfterMs: [], arrivedAfterMs: [] };
  const databases = await Promise.all(
    Array.from({ length: DATABASES }, (_, index) =>
      household(`household-${index}`, { writtenMs: new Map(), ...timings }),
    ),
  );
  const writers = databases.flatMap((clients) => clients.slice(0, WRITERS_EACH));
  const clients = databases.flat();

  const startMs = performance.now();
  for (let first = 0; first < clients.length; first += ARRIVING_AT_ONCE)
    await Promise.all(clients.slice(first, first + ARRIVING_AT_ONCE).map((client) => client.connect()));
  report(
    `${clients.length} clients of ${DATABASES} databases are connected after ${since(startMs)}; ${await watch.look()}`,
  );

  await writeAtRate(writers);
  const caughtUpMs = await untilAllArrived(clients);
  report(
    `${WRITES_PER_SECOND} writes/s for ${WRITING_MS / 1000} s; acknowledged after ${summary(timings.acknowledgedAfterMs)}, with another client after ${summary(timings.arrivedAfterMs)}; the rest ${caughtUpMs.toFixed(0)} ms after the last; ${await watch.look()}`,
  );

  await Promise.all(writers.map((client) => client.cut()));
  const stormMs = performance.now();
  for (const client of writers) client.write();
  await Promise.all(writers.map((client) => client.connect()));
  await untilAllArrived(clients);
  report(
    `${writers.length} back at once with a write each: all have all after ${since(stormMs)}; ${await watch.look()}`,
  );

  report(`one row a transaction: ${await importRows(1)}; ${await watch.look()}`);
  report(`${BATCH_ROWS} rows a transaction: ${await importRows(BATCH_ROWS)}; ${await watch.look()}`);

  expect(clients.flatMap(({ refusals }) => refusals)).toEqual([]);
  for (const { arrived } of clients) expect([...arrived.values()].filter((times) => times !== 1)).toEqual([]);
  expect(await watch.maxResidentBytes()).toBeLessThan(MAX_RESIDENT_BYTES);
});

async function household(databaseId: string, log: LoadLog): Promise<LoadClient[]> {
  const { url } = tested.server;
  const token = await tested.server.token('editor', databaseId, databaseId);
  return Array.from(
    { length: WRITERS_EACH + READERS_EACH },
    (_, index) => new LoadClient({ url, token, databaseId, name: `${databaseId}-c${index}`, log }),
  );
}

/** Writes on schedule, even if the server does not keep up. */
async function writeAtRate(writers: readonly LoadClient[]): Promise<void> {
  const startMs = performance.now();
  const total = (WRITES_PER_SECOND * WRITING_MS) / 1000;
  for (let written = 0; written < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - startMs) * WRITES_PER_SECOND) / 1000));
    for (; written < due; written++) writers[written % writers.length]?.write();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function importRows(rows: number): Promise<string> {
  let transactions = 0;
  const importers = await Promise.all(
    Array.from({ length: IMPORTERS }, async (_, index) => {
      const databaseId = `import-${rows}-${index}`;
      const connection = await TestConnection.connect(tested.server.url);
      await connection.open(await tested.server.token('editor', databaseId, databaseId), databaseId);
      return connection;
    }),
  );
  const startMs = performance.now();
  await Promise.all(
    importers.map(async (connection) => {
      while (performance.now() - startMs < IMPORTING_MS) {
        const changes = Array.from({ length: rows }, () =>
          insert('entries', crypto.randomUUID(), { amount: 1n, note: 'a note of some length' }),
        );
        expect(await connection.commit(changes)).toMatchObject({ kind: 'admitted' });
        transactions++;
      }
    }),
  );
  const seconds = (performance.now() - startMs) / 1000;
  await Promise.all(importers.map((connection) => connection.close()));
  return `${(transactions / seconds).toFixed(0)} transactions/s, ${((transactions * rows) / seconds).toFixed(0)} rows/s`;
}

/**
 * Samples the server every few seconds, and also this process, whose own delays are part of what the clients measure.
 */
function watchServer(): { look(): Promise<string>; maxResidentBytes(): Promise<number> } {
  const { server } = tested;
  const here = monitorEventLoopDelay({ resolution: 20 });
  here.enable();
  let maxResidentBytes = 0;
  let delaySeconds = 0;
  const measure = async (): Promise<void> => {
    const metrics = await server.metrics();
    maxResidentBytes = Math.max(maxResidentBytes, metrics.get('rockpool_resident_memory_bytes') ?? Infinity);
    delaySeconds = Math.max(delaySeconds, metrics.get('rockpool_event_loop_delay_p99_seconds') ?? Infinity);
  };
  watching = setInterval(() => void measure(), 5_000);
  return {
    look: async () => {
      await measure();
      const text = `server: at most ${(maxResidentBytes / 1024 ** 2).toFixed(0)} MiB, loop delay of the worst 5 s ${(delaySeconds * 1000).toFixed(0)} ms (p99); clients' own ${(here.percentile(99) / 1e6).toFixed(0)} ms`;
      delaySeconds = 0;
      here.reset();
      return text;
    },
    maxResidentBytes: async () => {
      await measure();
      return maxResidentBytes;
    },
  };
}

function report(text: string): void {
  console.info(`load: ${text}`);
}

function since(startMs: number): string {
  return `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
}
