import { commands } from 'vitest/browser';
import { describeClient } from './testing/client.contract.ts';

declare module 'vitest/browser' {
  interface BrowserCommands {
    accessToSyncServer: (schemaJson: string, databaseId: string, origin: string) => Promise<{ readonly url: string; readonly token: string }>;
  }
}

for (const persistence of ['opfs', 'opfs-exclusive', 'indexeddb', 'memory'] as const) {
  describeClient(persistence, { sync: commands.accessToSyncServer, isShared: persistence !== 'memory' });
}
