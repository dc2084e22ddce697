import { describe, expect, it } from 'vitest';
import { syncedTables } from '../../packages/shared/src/index.ts';
import { budgetSchema } from './budget-schema.ts';
import { emptyTally, runHistory, type Ended, type Tally } from './history.ts';

const HISTORIES = 150;
/** Seeds that once failed stay here. */
const REGRESSIONS: readonly number[] = [];

const tables = [...syncedTables(budgetSchema).map(({ name, primaryKey }) => ({ name, order: primaryKey.join(', ') })), { name: 'rockpool_conflict', order: 'id' }];

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'bigint' ? Number(value) : value;
}

function check({ replicas, server }: Ended): void {
  for (const { name, order } of tables) {
    const onServer = server.file.sql.all(`SELECT * FROM ${name} ORDER BY ${order}`).map((row) => Object.values(row).map(plain));
    for (const replica of replicas) expect(replica.rows(`SELECT * FROM ${name} ORDER BY ${order}`).map((row) => row.map(plain))).toEqual(onServer);
  }
  for (const { database } of replicas) {
    expect(database.outbox.pendingCount()).toBe(0);
    expect(database.connection.value('SELECT count(*) FROM rockpool_base')).toBe(0);
    expect(database.connection.rows('PRAGMA integrity_check')).toEqual([['ok']]);
    expect(database.connection.rows('PRAGMA foreign_key_check')).toEqual([]);
  }
}

function close({ replicas, server }: Ended): void {
  for (const { database } of replicas) database.close();
  server.close();
}

async function runChecked(seed: number, tally: Tally): Promise<void> {
  let ended: Ended;
  try {
    ended = await runHistory(seed, tally);
  } catch (cause) {
    throw new Error(`history with seed ${seed} failed`, { cause });
  }
  try {
    check(ended);
  } catch (cause) {
    throw new Error(`history with seed ${seed} did not converge`, { cause });
  } finally {
    close(ended);
  }
}

describe('random histories of several devices and a server', () => {
  it.each(REGRESSIONS)('converge with seed %i, which once did not', async (seed) => {
    await runChecked(seed, emptyTally());
  });

  it('end with the same rows and the same ledger everywhere, whatever was cut, lost, doubled, refused or swapped', async () => {
    const tally = emptyTally();
    for (let seed = 1; seed <= HISTORIES; seed++) await runChecked(seed, tally);
    console.info(`${HISTORIES} histories:`, tally);
    for (const [what, count] of Object.entries(tally)) expect(count, what).toBeGreaterThan(0);
  }, 120_000);
});
