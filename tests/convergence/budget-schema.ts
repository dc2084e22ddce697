import { buildSchema, type Schema } from '../../packages/shared/src/index.ts';
import { sampleColumn, sampleTable } from '../../packages/shared/src/testing/index.ts';

/** Everything that can stand in the way of a merge: a unique key, a foreign key, a check, a key that two devices choose alike. */
export const budgetSchema: Schema = buildSchema([
  sampleTable('account', [sampleColumn('id', 'text', { notNull: true }), sampleColumn('name', 'text', { notNull: true }), sampleColumn('rate', 'real'), sampleColumn('picture', 'blob')], {
    uniques: [['name']],
  }),
  sampleTable(
    'entry',
    [
      sampleColumn('id', 'text', { notNull: true }),
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
  sampleTable('goal', [sampleColumn('month', 'text', { notNull: true }), sampleColumn('slot', 'integer', { notNull: true }), sampleColumn('amount', 'integer'), sampleColumn('note', 'text')], {
    primaryKey: ['month', 'slot'],
  }),
  sampleTable('draft', [sampleColumn('id', 'integer', { notNull: true }), sampleColumn('content', 'text')], { synced: false }),
]);
