import { buildSchema, type Schema } from '../../packages/shared/src/index.ts';
import { sampleColumn, sampleTable } from '../../packages/shared/src/testing/index.ts';

const id = sampleColumn('id', 'text', { notNull: true });

/** Everything that can stand in the way of a merge, and tables whose rows say of themselves whether something went wrong (checks.ts). */
export const householdSchema: Schema = buildSchema([
  sampleTable('account', [id, sampleColumn('name', 'text', { notNull: true }), sampleColumn('note', 'text'), sampleColumn('rate', 'real'), sampleColumn('picture', 'blob')], {
    uniques: [['name']],
  }),
  // The children that go with their account, with a generated column and a full-text index over the notes.
  sampleTable(
    'entry',
    [
      id,
      sampleColumn('account_id', 'text', { notNull: true }),
      sampleColumn('amount', 'integer', { notNull: true, defaultSql: '0' }),
      sampleColumn('note', 'text'),
      sampleColumn('weight', 'integer', { generated: { sql: '"amount" * 2', mode: 'virtual' } }),
    ],
    {
      foreignKeys: [{ columns: ['account_id'], foreignTable: 'account', foreignColumns: ['id'], onDelete: 'cascade', onUpdate: 'no action' }],
      checks: [{ name: 'bounded', sql: '"amount" < 1000' }],
      indexes: [{ name: 'entry_by_account', unique: false, expressions: ['"account_id"'], whereSql: null }],
    },
  ),
  // The children that keep their account from going.
  sampleTable('label', [id, sampleColumn('account_id', 'text', { notNull: true }), sampleColumn('content', 'text')], {
    foreignKeys: [{ columns: ['account_id'], foreignTable: 'account', foreignColumns: ['id'], onDelete: 'no action', onUpdate: 'no action' }],
  }),
  // A key that two devices choose alike.
  sampleTable('goal', [sampleColumn('month', 'text', { notNull: true }), sampleColumn('slot', 'integer', { notNull: true }), sampleColumn('amount', 'text'), sampleColumn('note', 'text')], {
    primaryKey: ['month', 'slot'],
  }),
  // Two rows that always carry the same token.
  sampleTable('half', [sampleColumn('pair', 'integer', { notNull: true }), sampleColumn('side', 'text', { notNull: true }), sampleColumn('token', 'text')], {
    primaryKey: ['pair', 'side'],
  }),
  // One row for each transaction.
  sampleTable('mark', [id, sampleColumn('author', 'text', { notNull: true })]),
  sampleTable('draft', [sampleColumn('id', 'integer', { notNull: true }), sampleColumn('content', 'text')], { synced: false }),
]);
