import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { testEpoch, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';

const write = { id: 'w', statements: [{ sql: "INSERT INTO account (id) VALUES ('a')", params: [] }] };

describe('the identity of the server database', () => {
  it('is stored at the first welcome and stays the same when the device becomes a new site', () => {
    const sync = testSync(openInMemory());
    expect(sync.position().databaseIdentity).toBeNull();
    sync.greet(testWelcome({ databaseIdentity: testEpoch(7) }));
    expect(sync.position().databaseIdentity).toEqual(testEpoch(7));
    sync.becomeNewSite(1);
    expect(sync.position().databaseIdentity).toEqual(testEpoch(7));
  });

  it('rejects the welcome of a different server database, even if its log could be a restored one, and changes nothing', () => {
    const database = openInMemory();
    database.write(write);
    const sync = testSync(database);
    sync.greet(testWelcome({ databaseIdentity: testEpoch(7), logEpoch: testEpoch(1) }));
    const before = sync.position();
    expect(() =>
      sync.greet(testWelcome({ databaseIdentity: testEpoch(8), logEpoch: testEpoch(2), fullResync: true })),
    ).toThrow(expect.objectContaining({ code: 'database-mismatch' }));
    expect(sync.position()).toEqual(before);
    expect(database.outbox.pendingCount()).toBe(1);
    expect(
      sync.greet(testWelcome({ databaseIdentity: testEpoch(7), logEpoch: testEpoch(2), fullResync: true })).kind,
    ).toBe('fits');
  });

  it('is flushed again at the next welcome if the flush failed', () => {
    let flushes = 0;
    const database = openInMemory({
      flush: () => {
        flushes++;
        if (flushes === 1) throw new RockpoolError('storage-unflushed');
      },
    });
    const sync = testSync(database);
    expect(() => sync.greet(testWelcome())).toThrow(expect.objectContaining({ code: 'storage-unflushed' }));
    expect(sync.greet(testWelcome()).kind).toBe('fits');
    sync.greet(testWelcome());
    expect(flushes).toBe(2);
  });
});
