import { RockpoolError, type CellValue } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { isSame } from '../../../testing/worker/is-same.ts';
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

type Result = readonly unknown[] | string;

/** The columns of the result, or the error. */
function resultOf(connection: Connection, sql: string, cells: readonly CellValue[] = []): Result {
  const statement = connection.prepare(sql);
  try {
    for (const [index, cell] of cells.entries()) statement.bindCell(index + 1, cell);
    const { columns, rowCount } = encodeRows(statement);
    return columns.map((column) => decodeColumn(column, rowCount));
  } catch (error) {
    if (!(error instanceof RockpoolError)) throw error;
    return `${error.code}: ${error.message}`;
  } finally {
    statement.release();
  }
}

/** What a write returns and the rows of all tables after it. The write is undone. */
function changesOf(connection: Connection, sql: string): readonly Result[] {
  connection.exec('SAVEPOINT w');
  const returned = resultOf(connection, sql);
  module._rockpool_scan_mode(NEVER, 0);
  const tables = ['t', 'u', 'v'].map((table) => resultOf(connection, `SELECT * FROM ${table}`));
  connection.exec('ROLLBACK TO w; RELEASE w');
  return [returned, ...tables];
}

/**
 * Compares runs with and without scans. All runs use the same prepared statement. If the first run with scans
 * translates it, the second one begins with a translated statement.
 */
function expectSame(run: () => unknown, sql: string): void {
  module._rockpool_scan_mode(NEVER, 0);
  const expected = run();
  module._rockpool_scan_mode(ALWAYS, 0);
  expectEqual(run(), expected, sql);
  module._rockpool_scan_mode(AS_IT_PAYS, SMALL_HASH_BYTES);
  expectEqual(run(), expected, sql);
}

/** `toEqual` takes longer than the queries. It describes the difference. */
function expectEqual(found: unknown, expected: unknown, sql: string): void {
  if (!isSame(found, expected)) expect(found, sql).toEqual(expected);
}

/** Runs a statement with several parameters, and changes the database between its runs. */
function runAll(connection: Connection, [sql = '', ...parts]: readonly string[]): void {
  for (const part of parts) {
    const values = part.slice(1);
    module._rockpool_scan_mode(NEVER, 0);
    if (part.startsWith('!')) {
      try {
        connection.exec(values);
      } catch (error) {
        // A constraint may forbid the change.
        if (!(error instanceof RockpoolError)) throw error;
      }
    } else {
      const statement = connection.prepare(`SELECT ${values}`);
      statement.step();
      const cells = statement.readCells();
      statement.release();
      expectSame(() => resultOf(connection, sql, cells), sql);
    }
  }
}

it('every query has the same result with scans as in plain SQLite', () => {
  let connection = new Connection(runtime, { path: ':memory:' });
  let queries = 0;
  const count = atLevel({ test: TESTED.count / 2, verify: 10_000, deep: 100_000 });
  try {
    for (const { kind, sql } of scanQueries(count, TESTED.seed, TESTED.mostRows)) {
      module._rockpool_scan_mode(NEVER, 0);
      if (kind === 'database') {
        connection.close();
        connection = new Connection(runtime, { path: ':memory:' });
        continue;
      }
      if (kind === 'setup') {
        connection.exec(sql);
        continue;
      }
      queries++;
      if (kind === 'runs') runAll(connection, sql.split('\t'));
      else expectSame(() => (kind === 'write' ? changesOf : resultOf)(connection, sql), sql);
    }
  } finally {
    module._rockpool_scan_mode(AS_IT_PAYS, 0);
    connection.close();
  }
  expect(queries).toBeGreaterThanOrEqual(count);
});
