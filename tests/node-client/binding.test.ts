import { createDevice } from '#client/node/index.ts';
import { describeBinding } from '#client/testing/binding.contract.ts';
import { accessToSyncServer } from '#kit/sync-server.ts';

const device = createDevice();

describeBinding('a device in Node', {
  createClient: ({ persistence: _persistence, durability: _durability, ...options }) => device.createClient(options),
  sync: (schemaJson, databaseId) => accessToSyncServer(schemaJson, databaseId, 'http://localhost'),
  persistence: undefined,
  extent: 'whole',
});
