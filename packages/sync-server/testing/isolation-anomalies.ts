import { expect } from 'vitest';
import type { Outcome } from '@rockpool/shared';
import { insert, remove, update, type Change } from './changeset.ts';
import type { PostgresAccess } from './postgres-access.ts';
import { TestSite, type TestConnection } from './test-client.ts';
import { TestServer } from './test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

export interface AnomalyPlan {
  readonly instances: number;
  readonly rounds: number;
}

/** How often each anomaly was found. */
export type Anomalies = Readonly<
  Record<
    | 'lost increments'
    | 'values lost without a conflict'
    | 'unique values twice'
    | 'children without a parent'
    | 'children without the parent that keeps them'
    | 'acknowledged changesets missing'
    | 'instances that differ',
    number
  >
>;

const WRITERS_OF_EACH = 2;

interface Writer {
  readonly number: number;
  readonly connection: TestConnection;
}

/**
 * The concurrent writes of one round, by writers that have seen the same rows: add to one counter, set one value, take
 * one unique name, and either delete a parent or add children to it, whose foreign key either cascades or restricts the
 * delete.
 */
function changesOf(round: number, writer: number): readonly (readonly Change[])[] {
  const own = `${round}-${writer}`;
  return [
    [update('products', 'counted', { stock: 1n })],
    [update('products', 'valued', { name: own })],
    [insert('accounts', `named-${own}`, { name: `same-${round}` })],
    ...(writer % 3 === 0
      ? [[remove('accounts', `parent-${round}`)], [remove('accounts', `kept-${round}`)]]
      : [
          [insert('entries', `child-${own}`, { account_id: `parent-${round}`, amount: 1n })],
          [insert('limits', `limit-${own}`, { account_id: `kept-${round}` })],
          [insert('cards', `card-${own}`, { account_name: `parent ${round}`, digits: own })],
        ]),
  ];
}

/**
 * Several instances on one PostgreSQL server, with writers that conflict in every round. Counts what isolation should
 * prevent.
 */
export async function findAnomalies(
  postgres: PostgresAccess,
  { instances: count, rounds }: AnomalyPlan,
): Promise<Anomalies> {
  const { url, name } = await postgres.createDatabase();
  const instances = await Promise.all(
    Array.from({ length: count }, () => TestServer.start(temporaryFolder(), { postgres: url })),
  );
  try {
    await Promise.all(instances.map((instance) => instance.sync.ready()));
    const writers: Writer[] = [];
    for (let number = 0; number < count * WRITERS_OF_EACH; number++)
      writers.push({ number, connection: await (instances[number % count] as TestServer).open(new TestSite()) });
    const [first] = writers as [Writer];
    const outcomes = [
      await first.connection.commit([insert('products', 'counted', { stock: 0n })]),
      await first.connection.commit([insert('products', 'valued', { stock: 0n, name: 'none' })]),
    ];
    for (let round = 0; round < rounds; round++) {
      outcomes.push(
        await first.connection.commit([
          insert('accounts', `parent-${round}`, { name: `parent ${round}` }),
          insert('accounts', `kept-${round}`, { name: `kept ${round}` }),
        ]),
      );
      await catchUp(writers, watermarkOf(outcomes));
      // All writers write before any of them sees what the others have written.
      for (const { number, connection } of writers)
        for (const changes of changesOf(round, number)) connection.site.write(changes);
      for (const { connection } of writers) connection.push();
      for (const decided of await Promise.all(writers.map(outcomesOf))) outcomes.push(...decided);
    }
    await catchUp(writers, watermarkOf(outcomes));
    const increments = rounds * writers.length;
    const ask = async (sql: string): Promise<number> => Number((await postgres.query(name, sql))[0]?.[0]);
    const copies = instances.map((instance) =>
      JSON.stringify(
        COPIED.map((sql) => instance.query(sql)),
        bigints,
      ),
    );
    return {
      'lost increments': increments - (await ask(`SELECT stock FROM rockpool.products WHERE id = 'counted'`)),
      // One writer of a round wins, and each other writer has a conflict.
      'values lost without a conflict':
        rounds * (writers.length - 1) -
        (await ask(
          `SELECT count(*) FROM rockpool.rockpool_conflict WHERE table_name = 'products' AND column_name = 'name'`,
        )),
      'unique values twice':
        (await ask('SELECT count(*) - count(DISTINCT name) FROM rockpool.accounts')) +
        (await ask('SELECT count(*) - count(DISTINCT digits) FROM rockpool.cards')),
      'children without a parent':
        (await ask(`SELECT count(*) FROM rockpool.entries WHERE ${isOrphan('account_id', 'id')}`)) +
        (await ask(`SELECT count(*) FROM rockpool.cards WHERE ${isOrphan('account_name', 'name')}`)),
      'children without the parent that keeps them': await ask(
        `SELECT count(*) FROM rockpool.limits WHERE ${isOrphan('account_id', 'id')}`,
      ),
      'acknowledged changesets missing':
        outcomes.filter(({ kind }) => kind === 'admitted').length -
        (await ask('SELECT count(DISTINCT (site_number, sequence)) FROM rockpool.rockpool_log')),
      'instances that differ': new Set(copies).size - 1,
    };
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()));
  }
}

const COPIED = ['accounts', 'cards', 'entries', 'limits', 'products', 'rockpool_log', 'rockpool_conflict'].map(
  (table) => `SELECT * FROM ${table} ORDER BY 1, 2`,
);

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

function isOrphan(column: string, foreignColumn: string): string {
  return `${column} IS NOT NULL AND ${column} NOT IN (SELECT ${foreignColumn} FROM rockpool.accounts)`;
}

function watermarkOf(outcomes: readonly Outcome[]): number {
  return Math.max(...outcomes.map((outcome) => (outcome.kind === 'admitted' ? outcome.watermark : 0)));
}

async function catchUp(writers: readonly Writer[], watermark: number): Promise<void> {
  await Promise.all(
    writers.map(async ({ connection }) => {
      while (connection.site.cursor < watermark) await connection.delivery();
      connection.confirm();
    }),
  );
}

async function outcomesOf({ connection }: Writer): Promise<Outcome[]> {
  const { site } = connection;
  const outcomes: Outcome[] = [];
  while (site.lastAckedSequence < site.changelog.length) outcomes.push(...(await connection.delivery()).outcomes);
  expect(outcomes.length).toBeGreaterThan(0);
  return outcomes;
}

export const NO_ANOMALIES: Anomalies = {
  'lost increments': 0,
  'values lost without a conflict': 0,
  'unique values twice': 0,
  'children without a parent': 0,
  'children without the parent that keeps them': 0,
  'acknowledged changesets missing': 0,
  'instances that differ': 0,
};
