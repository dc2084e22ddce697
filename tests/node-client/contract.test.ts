import { createDevice } from '#client/node/index.ts';
import { describeClient } from '#client/testing/client.contract.ts';
import { atLevel } from '#kit/level.ts';
import { accessToSyncServer } from '#kit/sync-server.ts';

// Node sends no origin with a WebSocket.
const NO_ORIGIN = 'http://localhost';
const device = createDevice();

describeClient('memory', {
  createClient: ({ persistence: _persistence, durability: _durability, ...options }) => device.createClient(options),
  openTab: null,
  sync: (schemaJson, databaseId) => accessToSyncServer(schemaJson, databaseId, NO_ORIGIN),
  isShared: true,
  // `npm test` runs the whole contract in Chromium.
  extent: atLevel({ test: 'differences', verify: 'whole' }),
});
