import { expect } from 'vitest';
import { RockpoolError, type CellValue } from '#shared/index.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { DirectDevice } from '#kit/direct-device.ts';
import { divergenceSchema, randomFrom, StatementGenerator, SYNCED_COLUMNS } from './statements.ts';

/** Number of writes between two comparisons of the replicas. */
const WRITES_PER_ROUND = 12;
const ROUNDS = 10;

export interface StatementCounts {
  readonly statements: number;
  readonly committed: number;
  readonly refused: number;
  /** Keyed by error code. */
  readonly codes: ReadonlyMap<string, number>;
  /** Changesets that the server rejected, with a reason. */
  readonly rejected: number;
}

/**
 * Runs at least this many statements on two devices. Every statement has the same effect everywhere or fails with a
 * typed error.
 */
export async function runStatements(count: number, firstSeed: number): Promise<StatementCounts> {
  const codes = new Map<string, number>();
  let [statements, committed, rejected] = [0, 0, 0];
  for (let seed = firstSeed; statements < count; seed++) {
    const generator = new StatementGenerator(seed);
    const random = randomFrom(seed + 0.5);
    const live = new LiveDatabase(openDatabaseFile(':memory:', divergenceSchema), {
      onFailure: (error) => {
        throw error;
      },
    });
    const devices = [1, 2].map((number) => new DirectDevice(divergenceSchema, () => 1_700_000_000_000, number));
    const done: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (let write = 0; write < WRITES_PER_ROUND; write++) {
        const device = devices[random() < 0.6 ? 0 : 1] as DirectDevice;
        const batch = generator.statements();
        statements += batch.length;
        const code = attempt(device, `${seed}.${round}.${write}`, batch);
        if (code === null) {
          committed += batch.length;
          done.push(`${devices.indexOf(device)}: ${batch.join('; ')}`);
        } else codes.set(code, (codes.get(code) ?? 0) + batch.length);
      }
      rejected += await compare(devices, live, `seed ${seed}, round ${round}:\n${done.join('\n')}`);
    }
    for (const device of devices) device.close();
    await live.close();
  }
  return { statements, committed, refused: [...codes.values()].reduce((sum, one) => sum + one, 0), codes, rejected };
}

/** The error code; null if the write committed. */
function attempt(device: DirectDevice, id: string, batch: readonly string[]): string | null {
  try {
    device.database.write({ id, statements: batch.map((sql) => ({ sql, params: [] })) });
    return null;
  } catch (error) {
    if (!(error instanceof RockpoolError) || error.code === 'internal')
      throw new Error(`${batch.join('; ')}: ${String(error)}`, { cause: error });
    return error.code;
  }
}

/**
 * Checks that both devices and the server have the same rows, byte for byte, and that nothing is pending. Drops the
 * rejected changesets and returns their number.
 */
async function compare(devices: readonly DirectDevice[], live: LiveDatabase, history: string): Promise<number> {
  let rejected = 0;
  for (let turn = 0; turn < 2; turn++) {
    for (const device of devices) await device.settle(live);
    for (const device of devices) {
      for (const [sequence] of device.rows('SELECT sequence FROM rockpool_parked')) {
        rejected++;
        device.database.write({
          id: `drop ${device.site} ${String(sequence)}`,
          statements: [],
          action: { kind: 'drop-rejected', sequence: Number(sequence) },
        });
      }
    }
  }
  for (const device of devices) expect(device.sync.counts(), history).toEqual({ pendingCount: 0, rejectedCount: 0 });
  for (const [table, columns] of Object.entries(SYNCED_COLUMNS)) {
    const expected = live.file.sql.all(
      select(
        'main',
        table,
        columns.filter((column) => column !== 'twice'),
      ),
    );
    for (const device of devices)
      expect(
        rowsOf(
          device,
          table,
          columns.filter((column) => column !== 'twice'),
        ),
        `${table} of a device; ${history}`,
      ).toEqual(expected);
    const [first, second] = devices.map((device) =>
      JSON.stringify(
        device.rows(
          `SELECT ${columns.map((column) => `quote(${column})`).join(', ')} FROM main.${table} ORDER BY 1, 2`,
        ),
      ),
    );
    expect(second, history).toBe(first);
  }
  return rejected;
}

const select = (schema: string, table: string, columns: readonly string[]): string =>
  `SELECT ${columns.join(', ')} FROM ${schema}.${table} ORDER BY 1, 2`;

/** The value as SQLite stores it: REAL as number, INTEGER as bigint. */
function rowsOf({ database }: DirectDevice, table: string, columns: readonly string[]): CellValue[][] {
  const statement = database.connection.prepare(select('main', table, columns));
  try {
    const rows: CellValue[][] = [];
    while (statement.step()) rows.push(columns.map((_, column) => statement.readCell(column)));
    return rows;
  } finally {
    statement.release();
  }
}
