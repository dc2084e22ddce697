import { columnIdOf, encodeKey, tableIdOf } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { DirectSession } from '../../testing/direct-session.ts';
import { Replica } from '../../testing/replica.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { ChangedRows } from './changed-rows.ts';
import { deliveredGroups } from './delivery.ts';

const NOW_MS = 1_763_683_200_000;

it('a delivery has the columns of every correction of a row, whichever changesets were corrected', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const live = new LiveDatabase(file, { onFailure: () => undefined });
  const author = new DirectSession(live, new Replica(), NOW_MS);
  author.replica.write([insert('accounts', 'x', { name: 'Cash', rank: 1n })]);
  author.push(1, 1, NOW_MS);
  live.settle();
  const [name, rank] = ['name', 'rank'].map(columnIdOf) as [number, number];
  const correctionOf = (columnId: number) => ({
    tableId: tableIdOf('accounts'),
    keyBytes: encodeKey(['x']),
    columnIds: [columnId],
  });
  const reader = { siteNumber: file.sites.numberOf(author.site), from: 1, ownFrom: 1 };
  const groups = deliveredGroups(file, new ChangedRows(file), reader, [correctionOf(name), correctionOf(rank)]);
  expect(groups).toMatchObject([{ kind: 'update', keys: [['x']], rowCount: 1 }]);
  expect(new Set(groups[0]?.columnIds)).toEqual(new Set([name, rank]));
  file.sql.close();
});
