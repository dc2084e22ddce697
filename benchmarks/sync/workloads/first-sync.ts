import { startProxy } from '../counting-proxy.ts';
import { startClients, startServer } from '../processes.ts';
import type { SyncWorkload } from '../workload.ts';

const CHUNK = 10_000;
const TIMEOUT_MS = 180_000;

/** S1: a fresh client, from connecting until every row can be queried. */
export const firstSync: SyncWorkload = {
  id: 'S1',
  rounds: 3,
  async run(subject, { firstSyncRows }) {
    const server = await startServer(subject);
    const proxy = await startProxy(server.port);
    const writer = await startClients(subject, server.port, 'writer');
    try {
      await writer.connect();
      for (let from = 0; from < firstSyncRows; from += CHUNK) {
        await writer.insertMany(from, Math.min(CHUNK, firstSyncRows - from));
        await writer.waitUntilSent(TIMEOUT_MS);
      }
      const fresh = await startClients(subject, proxy.port, 'fresh', 1, 'fresh');
      try {
        const startMs = await fresh.connect();
        const endMs = await fresh.waitForCount(firstSyncRows, TIMEOUT_MS);
        return [
          ['S1', (endMs - startMs) / 1000, 's'],
          ['S1bytes', proxy.downBytes, 'bytes'],
        ];
      } finally {
        await fresh.end();
      }
    } finally {
      await writer.end();
      proxy.close();
      await server.stop();
    }
  },
};
