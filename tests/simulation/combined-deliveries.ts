import type { OpenDatabase } from '#client/worker/database/open-database.ts';

/** Calls back after each transaction of this database that has applied several deliveries. */
export function watchCombinedDeliveries({ connection }: OpenDatabase, onCombined: () => void): void {
  const run = connection.run.bind(connection);
  let cursors = 0;
  connection.run = (sql, ...params) => {
    if (sql === 'BEGIN IMMEDIATE') cursors = 0;
    // Each delivery writes the cursor once.
    if (params.includes('cursor_link')) cursors++;
    const result = run(sql, ...params);
    if (sql === 'COMMIT' && cursors > 1) onCombined();
    return result;
  };
}
