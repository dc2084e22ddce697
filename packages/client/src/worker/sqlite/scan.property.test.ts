import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { scanQueries, TESTED } from '../../../sqlite/testing/scan-queries.mjs';
import { decodeColumn } from '../../rpc/rows-transfer.ts';
import { Connection } from './connection.ts';
import { encodeRows } from './encode-rows.ts';
import { loadSqlite } from './load-sqlite.node.ts';

const NEVER = 0;
const AS_IT_PAYS = 1;
const ALWAYS = 2;
const SMALL_HASH_BYTES = 6000;

const runtime = await loadSqlite();
const { module } = runtime;

/** The columns of the result, or the error. */
function resultOf(connection: Connection, sql: string): unknown {
  const statement = connection.prepare(sql);
  try {
    const { columns, rowCount } = encodeRows(statement);
    return columns.map((column) => decodeColumn(column, rowCount));
  } catch (error) {
    if (!(error instanceof RockpoolError)) throw error;
    return `${error.code}: ${error.message}`;
  } finally {
    statement.release();
  }
}

it('every query has the same result with scans as in plain SQLite', () => {
  let connection = new Connection(runtime, { path: ':memory:' });
  let queries = 0;
  try {
    const count = atLevel({ test: TESTED.count, verify: 10_000, deep: 100_000 });
    for (const { kind, sql } of scanQueries(count, TESTED.seed, TESTED.mostRows)) {
      module._rockpool_scan_mode(NEVER, 0);
      if (kind === 'database') {
        connection.close();
        connection = new Connection(runtime, { path: ':memory:' });
      } else if (kind === 'setup') {
        connection.exec(sql);
      } else {
        const expected = resultOf(connection, sql);
        queries++;
        // All runs use the same prepared statement. If the first run with scans translates it, the second one begins
        // with a translated statement.
        module._rockpool_scan_mode(ALWAYS, 0);
        expect(resultOf(connection, sql), sql).toEqual(expected);
        module._rockpool_scan_mode(AS_IT_PAYS, SMALL_HASH_BYTES);
        expect(resultOf(connection, sql), sql).toEqual(expected);
      }
    }
  } finally {
    module._rockpool_scan_mode(AS_IT_PAYS, 0);
    connection.close();
  }
  expect(queries).toBeGreaterThanOrEqual(TESTED.count);
});
