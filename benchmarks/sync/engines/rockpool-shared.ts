import { integer, sqliteTable, text } from '../../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { defineSchema } from '../../../packages/client/src/schema/index.ts';

export const SECRET: Uint8Array = new TextEncoder().encode('a secret of benchmarks only, 0123456789');
export const DATABASE_ID = 'benchmark';

const ledger = sqliteTable('ledger', {
  id: text().primaryKey().notNull(),
  account: text().notNull(),
  payee: text().notNull(),
  amountMinor: integer('amount_minor').notNull(),
  day: text().notNull(),
  notes: text().notNull(),
});
export const schema = defineSchema({ ledger });
