import { createServer } from 'node:http';
import { createSyncServer } from '../../../packages/sync-server/src/index.ts';
import { schema, SECRET } from './rockpool-shared.ts';

/** With its defaults, and nothing in its log. */
export async function startServer(port: number, dataDir: string): Promise<void> {
  const sync = createSyncServer({ dataDir, schema, secret: SECRET, log: () => undefined });
  const http = createServer();
  sync.attach(http);
  await new Promise<void>((resolve) => void http.listen(port, '127.0.0.1', resolve));
}
