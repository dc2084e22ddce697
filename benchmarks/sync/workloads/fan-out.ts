import type { ClientKind } from '../client-process.ts';
import { ENGINES, type SyncSubject } from '../engines.ts';
import { processorMs, residentBytes, startClients, startServer } from '../processes.ts';
import { quantile, sleep, type Figure, type SyncWorkload } from '../workload.ts';

/** Ten writes a second. */
const GAP_MS = 100;
const SETTLE_MS = 3_000;
const TIMEOUT_MS = 120_000;

/**
 * S4: one client writes while many watch. S5: the server's memory while all only watch. The watchers share one process,
 * which runs on the same machine as the server.
 */
export const fanOut: SyncWorkload = {
  id: 'S4',
  rounds: 1,
  async run(subject, { fanOutClients, fanOutWrites }) {
    const figures: Figure[] = [];
    for (const clients of fanOutClients)
      figures.push(...(await fanOutTo(subject, 'client', `S4-${clients}`, clients, fanOutWrites)));
    return figures;
  },
};

/** S4d: the same with watchers that only decode. */
export const fanOutToReceivers: SyncWorkload = {
  id: 'S4d',
  rounds: 1,
  async run(subject, { fanOutClients, fanOutWrites }) {
    const { engine } = await ENGINES[subject.engine]();
    if (engine.createReceiver === undefined) return [];
    const figures: Figure[] = [];
    for (const clients of fanOutClients)
      figures.push(...(await fanOutTo(subject, 'receiver', `S4d-${clients}`, clients, fanOutWrites)));
    return figures;
  },
};

async function fanOutTo(
  subject: SyncSubject,
  kind: ClientKind,
  id: string,
  clientCount: number,
  writes: number,
): Promise<Figure[]> {
  const server = await startServer(subject);
  const memoryBefore = residentBytes(server.pid);
  const [writer, watchers] = await Promise.all([
    startClients(subject, server.port, 'writer'),
    startClients(subject, server.port, 'watcher', clientCount, kind),
  ]);
  try {
    await Promise.all([writer.connect(), watchers.connect()]);
    await sleep(SETTLE_MS);
    const memory = residentBytes(server.pid);
    await writer.insertEach(1_000_000, 1);
    await watchers.waitForCount(1, TIMEOUT_MS);
    const processorBeforeMs = processorMs(server.pid);
    const written = await writer.insertPaced(0, writes, GAP_MS);
    const processorAfterMs = processorMs(server.pid);
    await sleep(SETTLE_MS);
    const latencies = await watchers.latencies(written);
    const came = latencies.filter(Number.isFinite);
    return [
      [`${id}p50`, quantile(came, 0.5), 'ms'],
      [`${id}p99`, quantile(came, 0.99), 'ms'],
      [`${id}missed`, latencies.length - came.length, 'rows'],
      ...(processorBeforeMs === undefined || processorAfterMs === undefined
        ? []
        : ([[`${id}cpu`, (processorAfterMs - processorBeforeMs) / writes, 'ms']] as const)),
      ...(kind === 'receiver' || memory === undefined || memoryBefore === undefined
        ? []
        : ([
            [`S5-${clientCount}`, memory / 2 ** 20, 'MB'],
            [`S5-${clientCount}each`, (memory - memoryBefore) / clientCount / 1024, 'KB'],
          ] as const)),
    ];
  } finally {
    await Promise.all([writer.end(), watchers.end()]);
    await server.stop();
  }
}
