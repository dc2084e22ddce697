import { FIRST_PREVIOUS_HASH } from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import {
  admitted,
  testDelivery,
  testEpoch,
  testGroup,
  testSync,
  testWelcome,
} from '../../../testing/worker/sync-steps.ts';
import { account, openStored } from '../../../testing/worker/test-database.ts';

const write = { id: 'w', statements: [{ sql: "INSERT INTO account (id) VALUES ('a')", params: [] }] };

describe('the principal of a database', () => {
  it('is the first user who signs in, who also owns the earlier writes', async () => {
    const medium = memoryMedium();
    const anonymous = await openStored(medium);
    anonymous.database.write(write);
    await anonymous.close();
    const ada = await openStored(medium, { principal: 'ada' });
    expect(ada.database.outbox.pendingCount()).toBe(1);
    await ada.close();
    // An app that names no user does not count as a different user.
    await (await openStored(medium)).close();
  });

  it('does not change while changes are pending; they are kept and counted', async () => {
    const medium = memoryMedium();
    const ada = await openStored(medium, { principal: 'ada' });
    ada.database.write(write);
    await ada.close();
    await expect(openStored(medium, { principal: 'ben' })).rejects.toMatchObject({
      code: 'other-principal',
      recovery: 'reauthenticate',
      fields: { pendingCount: 1 },
    });
    const again = await openStored(medium, { principal: 'ada' });
    expect(again.database.outbox.pendingCount()).toBe(1);
    again.database.outbox.markAcknowledged(1, Date.now());
    await again.close();
    await (await openStored(medium, { principal: 'ben' })).close();
    await expect(openStored(medium, { principal: 'ada' }).then(({ close }) => close())).resolves.toBeUndefined();
  });

  it('continues as a new site at a restored server that has only changesets of the first user', async () => {
    const medium = memoryMedium();
    const ada = await openStored(medium, { principal: 'ada' });
    for (const id of ['a', 'b'])
      ada.database.write({ id, statements: [{ sql: 'INSERT INTO account (id) VALUES (?)', params: [id] }] });
    ada.database.outbox.markAcknowledged(2, Date.now());
    await ada.close();
    const { database, close } = await openStored(medium, { principal: 'ben' });
    for (const id of ['c', 'd'])
      database.write({ id, statements: [{ sql: 'INSERT INTO account (id) VALUES (?)', params: [id] }] });
    // The server does not show the second user the hash of the first user's changesets.
    const restored = testWelcome({ lastAckedSequence: 1, decidedHash: FIRST_PREVIOUS_HASH, fullResync: true });
    expect(testSync(database).greet(restored)).toEqual({ kind: 'new-site', firstOwn: 3 });
    await close();
  });

  it('keeps the changesets of the first user from a server that was restored after a second one signed in', async () => {
    const medium = memoryMedium();
    const ada = await openStored(medium, { principal: 'ada' });
    ada.database.write(write);
    const adasSync = testSync(ada.database);
    adasSync.greet(testWelcome());
    adasSync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    await ada.close();
    const { database, close } = await openStored(medium, { principal: 'ben' });
    database.write({ id: 'v', statements: [{ sql: "INSERT INTO account (id) VALUES ('b')", params: [] }] });
    const sync = testSync(database);
    const restored = testWelcome({ logEpoch: testEpoch(2), fullResync: true });
    expect(sync.greet(restored)).toEqual({ kind: 'new-site', firstOwn: 2 });
    sync.becomeNewSite(2);
    expect(sync.greet(restored)).toEqual({ kind: 'fits' });
    sync.applyDelivery(testDelivery({ whole: true }));
    expect(sync.nextPush(0, 1e9)?.changesets).toMatchObject([{ sequence: 1, origin: { sequence: 2 } }]);
    expect(sync.nextPush(1, 1e9)).toBe(null);
    expect(database.connection.rows('SELECT id FROM account')).toEqual([['b']]);
    // A second restore finds nothing that was kept.
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    sync.greet(testWelcome({ logEpoch: testEpoch(3), fullResync: true }));
    sync.applyDelivery(testDelivery({ whole: true }));
    expect(sync.nextPush(0, 1e9)?.changesets).toHaveLength(1);
    await close();
  });

  it('also keeps changesets from the server that the first user wrote under an earlier site id', async () => {
    const medium = memoryMedium();
    const ada = await openStored(medium, { principal: 'ada' });
    ada.database.write(write);
    const adasSync = testSync(ada.database);
    adasSync.greet(testWelcome());
    adasSync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    adasSync.becomeNewSite(2);
    await ada.close();
    const { database, close } = await openStored(medium, { principal: 'ben' });
    const sync = testSync(database);
    expect(sync.greet(testWelcome({ logEpoch: testEpoch(2), fullResync: true }))).toEqual({ kind: 'fits' });
    sync.applyDelivery(testDelivery({ whole: true }));
    expect(sync.nextPush(0, 1e9)).toBe(null);
    await close();
  });

  it('determines which dependent edits are retried without asking the user', async () => {
    const medium = memoryMedium();
    const ada = await openStored(medium, { principal: 'ada' });
    ada.database.write(write);
    ada.database.write({ id: 'x', statements: [{ sql: "INSERT INTO account (id) VALUES ('c')", params: [] }] });
    const gap = { kind: 'rejected', code: 'document-gap', fields: {} } as const;
    const adasSync = testSync(ada.database);
    adasSync.greet(testWelcome());
    const reasons = [{ ...gap, sequence: 1, code: 'constraint-check' } as const, { ...gap, sequence: 2 }];
    // The second changeset cannot be retried while the delivered row exists.
    adasSync.applyDelivery(
      testDelivery({
        to: 1,
        lastAckedSequence: 2,
        outcomes: reasons,
        groups: [testGroup('insert', account, [{ id: 'c' }])],
      }),
    );
    expect(adasSync.counts()).toMatchObject({ pendingCount: 0, rejectedCount: 2 });
    await ada.close();
    const { database, close } = await openStored(medium, { principal: 'ben' });
    const sync = testSync(database);
    sync.greet(testWelcome({ lastAckedSequence: 2, decidedHash: database.changelog.hashOf(2) }));
    sync.applyDelivery(
      testDelivery({ from: 1, to: 2, lastAckedSequence: 2, groups: [testGroup('delete', account, [{ id: 'c' }])] }),
    );
    expect(sync.counts()).toMatchObject({ pendingCount: 0, rejectedCount: 2 });
    await close();
  });

  it('is the user of whom the last welcome said whether they may write', async () => {
    const medium = memoryMedium();
    for (const principal of ['ada', 'ben']) {
      const { database, close } = await openStored(medium, { principal });
      const sync = testSync(database);
      expect(sync.userMayWrite).toBe(null);
      for (const canWrite of [true, false]) {
        sync.greet(testWelcome({ canWrite }));
        sync.applyDelivery(testDelivery({ whole: true }));
        expect(sync.userMayWrite).toBe(canWrite);
      }
      await close();
      const again = await openStored(medium, { principal });
      expect(testSync(again.database).userMayWrite).toBe(false);
      await again.close();
    }
  });

  it('sees the rows of a delivery even if their right to write cannot be stored', async () => {
    const { database, close } = await openStored(memoryMedium(), { principal: 'ada' });
    const changed: unknown[] = [];
    const sync = testSync(database, undefined, ({ tables }) => changed.push(...tables));
    sync.greet(testWelcome());
    database.connection.exec(
      `CREATE TEMP TRIGGER full BEFORE INSERT ON rockpool_meta WHEN NEW.key = 'user_may_write'
       BEGIN SELECT RAISE(ABORT, 'full'); END`,
    );
    const group = testGroup('insert', account, [{ id: 'c' }]);
    expect(() => sync.applyDelivery(testDelivery({ from: 0, to: 1, groups: [group] }))).toThrow();
    expect(changed).toEqual(['account']);
    await close();
  });

  it('must be the same for a follower', async () => {
    const medium = memoryMedium();
    const leader = await openStored(medium, { principal: 'ada' });
    await (await openStored(medium, { role: 'reader', principal: 'ada' })).close();
    await expect(openStored(medium, { role: 'reader', principal: 'ben' })).rejects.toMatchObject({
      code: 'other-principal',
    });
    await leader.close();
  });
});
