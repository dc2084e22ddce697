import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { withSent } from '../../rpc/row-sync-state.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { account, openInMemory } from '../../../testing/worker/test-database.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';

let requests = 0;
function write(database: OpenDatabase, sql: string): void {
  database.write({ id: `w${++requests}`, statements: [{ sql, params: [] }] });
}

describe('the sync state of a row', () => {
  it('reports the stage of each change, and the least advanced stage for the row', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, name) VALUES ('a', 'x')");
    write(database, "INSERT INTO account (id, name) VALUES ('b', 'y')");
    write(database, "UPDATE account SET name = 'z' WHERE id = 'a'");
    const stages = (id = 'a'): unknown[] => [
      database.rowSyncState('account', [id]).stage,
      ...database.rowSyncState('account', [id]).changes.map(({ sequence, stage }) => `${sequence} ${stage}`),
    ];
    expect(stages()).toEqual(['pending', '1 pending', '3 pending']);
    expect(withSent(database.rowSyncState('account', ['a']), 2)).toMatchObject({
      stage: 'pending',
      changes: [{ stage: 'sent' }, { stage: 'pending' }],
    });
    expect(withSent(database.rowSyncState('account', ['a']), 3)).toMatchObject({ stage: 'sent' });

    const sync = testSync(database);
    sync.greet(testWelcome());
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    expect(stages()).toEqual(['pending', '1 admitted', '3 pending']);
    const refused = { kind: 'rejected', sequence: 3, code: 'constraint-check', fields: {} } as const;
    sync.applyDelivery(
      testDelivery({
        from: 1,
        to: 2,
        lastAckedSequence: 3,
        outcomes: [{ kind: 'admitted', sequence: 2, watermark: 2, conflictCount: 0 }, refused],
      }),
    );
    expect(stages()).toEqual(['rejected', '1 admitted', '3 rejected']);
    expect(database.rowSyncState('account', ['a']).changes.at(-1)?.reason).toMatchObject({ code: 'constraint-check' });
    database.write({ id: 'dropped', statements: [], action: { kind: 'drop-rejected', sequence: 3 } });
    expect(stages()).toEqual(['admitted', '1 admitted']);
    expect(stages('b')).toEqual(['admitted', '2 admitted']);
    database.close();
  });

  it('reports a pending or rejected change that has thousands of newer ones, but no such admitted change', () => {
    const database = openInMemory();
    for (const id of ['a', 'b']) write(database, `INSERT INTO account (id) VALUES ('${id}')`);
    for (let n = 0; n <= 5_000; n++) write(database, `INSERT INTO account (id) VALUES ('${n}')`);
    for (const [sequence, id] of ['a', 'b'].entries())
      expect(database.rowSyncState('account', [id])).toMatchObject({
        stage: 'pending',
        changes: [{ sequence: sequence + 1, stage: 'pending' }],
      });
    database.rejected.add(1, new RockpoolError('constraint-check').toData(), 0);
    database.outbox.markAcknowledged(5_003, 0);
    expect(database.rowSyncState('account', ['a'])).toMatchObject({
      stage: 'rejected',
      changes: [{ sequence: 1, stage: 'rejected' }],
    });
    // All newer changesets would have to be decoded, each time that the status changes.
    expect(database.rowSyncState('account', ['b'])).toEqual({ stage: 'delivered', changes: [], conflicts: [] });
    database.close();
  });

  it('distinguishes a delivered row from a row that does not exist', () => {
    const database = openInMemory();
    const sync = testSync(database);
    sync.greet(testWelcome());
    sync.applyDelivery(testDelivery({ to: 1, groups: [testGroup('insert', account, [{ id: 'theirs' }])] }));
    expect(database.rowSyncState('account', ['theirs'])).toEqual({ stage: 'delivered', changes: [], conflicts: [] });
    expect(database.rowSyncState('account', ['nobody’s'])).toEqual({ stage: 'none', changes: [], conflicts: [] });
    database.close();
  });

  it('lists the row’s entries in the conflict log', () => {
    const database = openInMemory();
    database.connection
      .exec(`INSERT INTO rockpool_conflict (id, table_name, row_key, rule, lost_by, won_by, lost_site, won_site, lost_at_ms, won_at_ms, watermark)
      SELECT id, 'account', key, 'later', '', '', '', '', 0, 0, 1 FROM (SELECT 'c1' AS id, '["a"]' AS key UNION ALL SELECT 'c2', '["b"]' UNION ALL SELECT 'c3', '["a"]')`);
    expect(database.rowSyncState('account', ['a']).conflicts).toEqual(['c1', 'c3']);
    database.close();
  });

  it('rejects tables that are not synced, and keys with a wrong number of parts', () => {
    const database = openInMemory();
    expect(() => database.rowSyncState('draft', [1])).toThrow(
      expect.objectContaining({ code: 'schema-unknown-table' }) as RockpoolError,
    );
    expect(() => database.rowSyncState('account', ['a', 'b'])).toThrow(
      expect.objectContaining({ code: 'key-invalid' }) as RockpoolError,
    );
    database.close();
  });
});
