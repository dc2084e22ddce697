import { describe, expect, it } from 'vitest';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { admitted, testDelivery, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';

const write = (id: string): { id: string; statements: { sql: string; params: string[] }[] } => ({
  id,
  statements: [{ sql: 'INSERT INTO account (id) VALUES (?)', params: [id] }],
});

describe('a restored backup', () => {
  it('continues as a new site before it sends anything, with the undecided changesets', () => {
    const database = openInMemory();
    for (const id of ['a', 'b', 'c']) database.write(write(id));
    const sync = testSync(database);
    sync.applyDelivery(testDelivery({ from: 0, to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    database.meta.set('is_restored', 1);
    const before = database.siteId;
    // The original has sent the second changeset since the backup.
    const verdict = sync.greet(testWelcome({ lastAckedSequence: 2, decidedHash: database.changelog.hashOf(2) }));
    expect(verdict).toEqual({ kind: 'new-site', firstOwn: 3 });
    if (verdict.kind === 'new-site') sync.becomeNewSite(verdict.firstOwn);
    expect(database.siteId).not.toEqual(before);
    expect(database.meta.get('is_restored')).toBe(null);
    expect(database.outbox.pendingCount()).toBe(1);
    expect(sync.greet(testWelcome()).kind).toBe('fits');
  });
});
