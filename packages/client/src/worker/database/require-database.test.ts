import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { openStored, testSchema } from '../../../testing/worker/test-database.ts';

const mismatch = { code: 'database-mismatch', fields: { belongsTo: 'team', asked: 'team2' } };

describe('the server database that a local database belongs to', () => {
  it('is set by the first opening with sync, whatever was written before, and never changes', async () => {
    const medium = memoryMedium();
    const local = await openStored(medium);
    local.database.write({ id: 'w', statements: [{ sql: "INSERT INTO account (id) VALUES ('a')", params: [] }] });
    await local.close();
    for (const databaseId of ['team', null, 'team']) {
      const opened = await openStored(medium, { databaseId });
      expect([opened.database.meta.databaseId, opened.database.outbox.pendingCount()]).toEqual([
        databaseId === null ? 'team' : databaseId,
        1,
      ]);
      await opened.close();
    }
    await expect(openStored(medium, { databaseId: 'team2' })).rejects.toMatchObject(mismatch);
  });

  it('is checked before the schema or the principal of the file changes', async () => {
    const medium = memoryMedium();
    await (await openStored(medium, { databaseId: 'team', principal: 'ada' })).close();
    const smaller = { ...testSchema, tables: testSchema.tables.slice(0, 1), hash: 'another' };
    await expect(openStored(medium, { databaseId: 'team2', schema: smaller, principal: 'ben' })).rejects.toMatchObject(
      mismatch,
    );
    const again = await openStored(medium, { databaseId: 'team' });
    expect([again.database.meta.get('principal'), again.database.meta.schemaHash]).toEqual(['ada', testSchema.hash]);
    await again.close();
  });

  it('is checked, but not set, by a follower', async () => {
    const medium = memoryMedium();
    const leader = await openStored(medium, { databaseId: 'team' });
    await expect(openStored(medium, { role: 'reader', databaseId: 'team2' })).rejects.toMatchObject(mismatch);
    await (await openStored(medium, { role: 'reader', databaseId: 'team' })).close();
    await leader.close();
  });
});
