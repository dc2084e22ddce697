import type { OpenDatabase } from '../../src/worker/database/open-database.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome, type TestSync } from './sync-steps.ts';
import { account, openInMemory } from './test-database.ts';

/**
 * Accounts of the server with these ids, among them c. The update of c by this device is admitted, and then another
 * device deletes c.
 */
export function updatedAndDeleted(ids: readonly string[]): { database: OpenDatabase; sync: TestSync } {
  const database = openInMemory();
  const sync = testSync(database);
  sync.greet(testWelcome());
  const there = ids.map((id) => ({ id, name: id, amount: 1n }));
  sync.applyDelivery(testDelivery({ to: 1, groups: [testGroup('insert', account, there)] }));
  database.write({ id: 'c5', statements: [{ sql: "UPDATE account SET amount = 5 WHERE id = 'c'", params: [] }] });
  const groups = [testGroup('delete', account, [{ id: 'c' }])];
  sync.applyDelivery(testDelivery({ from: 1, to: 3, lastAckedSequence: 1, outcomes: admitted(1, 1), groups }));
  return { database, sync };
}
