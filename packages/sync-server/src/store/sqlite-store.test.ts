import { temporaryFolder } from '../testing/test-server.ts';
import { storeContract } from './store.contract.ts';
import { SqliteStore } from './sqlite-store.ts';

storeContract('SQLite', async () => {
  const folder = temporaryFolder();
  return { open: (schema) => new SqliteStore(folder.path, schema), remove: async () => folder.remove() };
});
