import { createDevice } from '#client/node/index.ts';
import { describeBinding } from '#client/testing/binding.contract.ts';
import { atLevel } from '#kit/level.ts';
import { accessToSyncServer } from '#kit/sync-server.ts';

const device = createDevice();

describeBinding('a device in Node', {
  createClient: ({ persistence: _persistence, durability: _durability, ...options }) => device.createClient(options),
  sync: (schemaJson, databaseId) => accessToSyncServer(schemaJson, databaseId, 'http://localhost'),
  persistence: undefined,
  // `npm test` runs the whole contract in Chromium.
  extent: atLevel({ test: 'differences', verify: 'whole' }),
});
