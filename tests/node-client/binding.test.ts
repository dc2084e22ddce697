import { createDevice } from '../../packages/client/src/node/index.ts';
import { describeBinding } from '../../packages/client/testing/binding.contract.ts';
import { accessToSyncServer } from '../support/sync-server.ts';

const device = createDevice();

describeBinding('a device in Node', {
  createClient: ({ persistence: _persistence, durability: _durability, ...options }) => device.createClient(options),
  sync: (schemaJson, databaseId) => accessToSyncServer(schemaJson, databaseId, 'http://localhost'),
  persistence: undefined,
  extent: 'whole',
});
