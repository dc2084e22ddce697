import { startProxy } from '../counting-proxy.ts';
import { startClients, startServer } from '../processes.ts';
import { sleep, type SyncWorkload } from '../workload.ts';

const TIMEOUT_MS = 120_000;
/** Time for B, which is online, to receive its welcome and become idle. */
const SETTLE_MS = 500;

/** S3: A writes offline, one transaction per row, then connects. Measures the time until B has all rows. */
export const backlog: SyncWorkload = {
  id: 'S3',
  rounds: 3,
  async run(subject, { backlogRows }) {
    const server = await startServer(subject);
    const proxy = await startProxy(server.port);
    const [a, b] = await Promise.all([startClients(subject, proxy.port, 'a'), startClients(subject, server.port, 'b')]);
    try {
      await b.connect();
      await sleep(SETTLE_MS);
      const offlineMs = await a.insertEach(0, backlogRows);
      const waiting = b.waitForCount(backlogRows, TIMEOUT_MS);
      const startMs = await a.connect();
      const endMs = await waiting;
      return [
        ['S3', (endMs - startMs) / 1000, 's'],
        ['S3bytes', proxy.upBytes, 'bytes'],
        ['S3offline', offlineMs / 1000, 's'],
      ];
    } finally {
      await Promise.all([a.end(), b.end()]);
      proxy.close();
      await server.stop();
    }
  },
};
