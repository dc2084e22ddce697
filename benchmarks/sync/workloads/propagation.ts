import { startProxy } from '../counting-proxy.ts';
import type { SyncSubject } from '../engines.ts';
import { startClients, startServer } from '../processes.ts';
import { quantile, sleep, type Figure, type SyncWorkload } from '../workload.ts';

const GAP_MS = 15;
/** Time after the last write for messages in flight. */
const SETTLE_MS = 2_000;
const TIMEOUT_MS = 120_000;
const FIRST_LIVE_ROW = 1_000_000;

/** S2: one write at a time, from the call on A until B is notified. */
export const propagation: SyncWorkload = {
  id: 'S2',
  rounds: 3,
  async run(subject, { liveWrites }) {
    const { latencies, upBytes } = await propagate(subject, 0, liveWrites);
    return [
      ['S2p50', quantile(latencies, 0.5), 'ms'],
      ['S2p99', quantile(latencies, 0.99), 'ms'],
      ['S2bytes', upBytes / liveWrites, 'bytes'],
    ];
  },
};

/** S8: the same with many rows present. */
export const propagationAmongMany: SyncWorkload = {
  id: 'S8',
  rounds: 1,
  async run(subject, { liveWrites, backlogRows }): Promise<Figure[]> {
    const { latencies } = await propagate(subject, backlogRows, liveWrites);
    return [['S8p50', quantile(latencies, 0.5), 'ms']];
  },
};

async function propagate(
  subject: SyncSubject,
  presentRows: number,
  writes: number,
): Promise<{ latencies: number[]; upBytes: number }> {
  const server = await startServer(subject);
  const proxy = await startProxy(server.port);
  const [a, b] = await Promise.all([startClients(subject, proxy.port, 'a'), startClients(subject, server.port, 'b')]);
  try {
    await Promise.all([a.connect(), b.connect()]);
    if (presentRows > 0) await a.insertMany(FIRST_LIVE_ROW * 2, presentRows);
    // A warm-up: the first write also opens resources that a server opens on demand.
    await a.insertEach(FIRST_LIVE_ROW * 3, 1);
    await b.waitForCount(presentRows + 1, TIMEOUT_MS);
    const before = proxy.upBytes;
    const written = await a.insertPaced(FIRST_LIVE_ROW, writes, GAP_MS);
    await sleep(SETTLE_MS);
    const latencies = await b.latencies(written);
    const missed = latencies.filter((latency) => latency === Infinity).length;
    if (missed > 0) throw new Error(`${missed} of ${writes} rows did not arrive`);
    return { latencies, upBytes: proxy.upBytes - before };
  } finally {
    await Promise.all([a.end(), b.end()]);
    proxy.close();
    await server.stop();
  }
}
