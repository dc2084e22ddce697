// Our server as it is published, in JavaScript, and the part of our client that a worker runs: database, capture, sync.
// A first sync uses the whole client, which downloads a file.
import type { Engine } from '../engine.ts';
import { BUILT_SERVER } from '../build-server.ts';

export const engine: Engine = {
  async startServer(port, folder) {
    const { startServer } = (await import(BUILT_SERVER)) as typeof import('./rockpool-server.ts');
    await startServer(port, folder);
  },
  async createClient(port) {
    const { createClient } = await import('./rockpool-client.ts');
    return createClient(port);
  },
  async createFreshClient(port) {
    const { createFreshClient } = await import('./rockpool-first-sync.ts');
    return createFreshClient(port);
  },
  async createReceiver(port) {
    const { RockpoolReceiver } = await import('./rockpool-receiver.ts');
    return new RockpoolReceiver(port);
  },
};
