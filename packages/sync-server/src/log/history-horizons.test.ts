import { expect, it } from 'vitest';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { INTERNAL_TABLES_SQL } from '../sqlite/internal-tables.ts';
import { historyHorizon, raiseHistoryHorizons } from './history-horizons.ts';

it('raiseHistoryHorizons raises the history horizon of each table, and never lowers it', () => {
  const sql = new SqliteFile(':memory:');
  sql.exec(INTERNAL_TABLES_SQL);
  expect(historyHorizon(sql, 1)).toBe(0);
  raiseHistoryHorizons(sql, [
    [1n, 9n],
    [2n, 5n],
  ]);
  raiseHistoryHorizons(sql, [[1n, 7n]]);
  raiseHistoryHorizons(sql, []);
  expect([historyHorizon(sql, 1), historyHorizon(sql, 2), historyHorizon(sql, 3)]).toEqual([9, 5, 0]);
  sql.close();
});
