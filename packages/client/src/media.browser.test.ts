import { afterEach, describe, expect, inject, it } from 'vitest';
import { commands } from 'vitest/browser';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { level } from '../../../tests/kit/level.ts';
import type { Client } from './client.ts';
import type { Persistence } from './rpc/persistence.ts';
import { createClient } from './create-client.ts';
import { defineSchema } from './schema/define-schema.ts';
import { freshName, openTab } from '../testing/browser-tabs.ts';
import { describeClient, type ContractOptions } from '../testing/client.contract.ts';

declare module 'vitest' {
  interface ProvidedContext {
    // Declared in the same way for the storage tests: the media that should work in this browser, best first, and the
    // error code of all other media.
    usableMedia: readonly ('opfs-shared' | 'opfs-exclusive' | 'indexeddb')[];
    refusal: 'storage-unsupported' | 'storage-ephemeral';
  }
}

declare module 'vitest/browser' {
  interface BrowserCommands {
    accessToSyncServer: (
      schemaJson: string,
      databaseId: string,
      origin: string,
      principal?: string,
    ) => Promise<{ readonly url: string; readonly token: string }>;
  }
}

const usable: readonly Persistence[] = inject('usableMedia').map((medium) =>
  medium === 'opfs-shared' ? 'opfs' : medium,
);
const schema = defineSchema({ note: sqliteTable('note', { id: text().primaryKey() }) });
let opened: Client | null = null;

afterEach(async () => {
  await opened?.close();
  opened = null;
});

/** `npm test` runs the whole contract on the best medium, and how tabs share a database on the next one. */
function extentOn(persistence: Persistence): ContractOptions['extent'] {
  if (level !== 'test' || persistence === usable[0]) return 'whole';
  return persistence === usable[1] ? 'differences' : 'storage';
}

for (const persistence of ['opfs', 'opfs-exclusive', 'indexeddb', 'memory'] as const) {
  if (usable.includes(persistence) || persistence === 'memory') {
    describeClient(persistence, {
      createClient,
      openTab,
      sync: (schemaJson, databaseId) => commands.accessToSyncServer(schemaJson, databaseId, location.origin),
      isShared: persistence !== 'memory',
      extent: extentOn(persistence),
    });
    continue;
  }
  describe(`Client on ${persistence}`, () => {
    it(`opening is refused with ${inject('refusal')}`, async () => {
      await expect(createClient({ name: freshName(), schema, persistence })).rejects.toMatchObject({
        code: inject('refusal'),
      });
    });
  });
}

describe('a client that asks for durable storage', () => {
  const [best] = usable;
  if (best === undefined) {
    it(`opening is refused with ${inject('refusal')}`, async () => {
      await expect(createClient({ name: freshName(), schema })).rejects.toMatchObject({ code: inject('refusal') });
    });
  } else {
    it(`receives ${best}`, async () => {
      opened = await createClient({ name: freshName(), schema });
      expect(opened.status.current.persistence).toBe(best);
    });
  }
});
