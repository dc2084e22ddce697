import { aroundEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { InProcessBus } from '#sync-server/bus/in-process-bus.ts';
import { Connections, type OpenPool } from '#sync-server/postgres/connection.ts';
import { instancesContract } from '#sync-server/store/postgres/instances.contract.ts';
import { PostgresStore } from '#sync-server/store/postgres/postgres-store.ts';
import { transactionsContract } from '#sync-server/store/postgres/transactions.contract.ts';
import { storeContract } from '#sync-server/store/store.contract.ts';
import { PostgresModel } from './postgres-model.ts';
import { REAL_CLOCK } from './real-clock.ts';
import { SimulatedPool, type Line } from './simulated-pool.ts';

// The contracts of postgres-store.test.ts, which runs them against the real PostgreSQL.

const SOUND_LINE: Line = {
  delayMs: () => 0,
  passageOf: () => 'arrives',
  onTraffic: () => undefined,
  notifications: () => [0],
  run: (body) => body(),
};

/** Fails the current test. */
let fail: (error: Error) => void = () => undefined;

// The store tries a failed statement again, so the test would only wait.
aroundEach(async (runTest) => {
  const unsupported = new Promise<never>((_, reject) => (fail = reject));
  await Promise.race([runTest(), unsupported]);
});

function modelUnderTest(): PostgresModel {
  const model = new PostgresModel(REAL_CLOCK);
  model.onUnsupported = (error) => fail(error);
  return model;
}

function connectTo(model: PostgresModel): Connections {
  const openPool: OpenPool = (config) =>
    new SimulatedPool(model, SOUND_LINE, config) as unknown as ReturnType<OpenPool>;
  return new Connections('postgres://model', { openPool });
}

/** A turn of the event loop, as every query of a real server takes. */
const aTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

storeContract('modelled PostgreSQL', async () => {
  const dataDir = temporaryFolder();
  const connections = connectTo(modelUnderTest());
  return {
    open: (schema) =>
      new PostgresStore({
        connections,
        bus: new InProcessBus(),
        dataDir,
        schema,
        measureCommit: () => undefined,
        onError: (error) => expect.unreachable(String(error)),
      }),
    close: () => connections.close(),
  };
});

instancesContract('modelled PostgreSQL', async () => {
  const model = modelUnderTest();
  const accounts = (): readonly ReadonlyMap<string, string | null>[] => [
    ...(model.tables.get('accounts')?.rows.values() ?? []),
  ];
  return {
    connect: () => connectTo(model),
    heads: async () => {
      await aTurn();
      return model.commits.map(({ head }) => head);
    },
    names: async () =>
      accounts()
        .map((row) => String(row.get('name')))
        .sort(),
    leaseTo: async (leasedBy, forMs) => {
      for (const [id, row] of model.databases)
        model.databases.set(id, { ...row, leasedBy, leasedUntilMs: Date.now() + forMs });
    },
    leaseHolder: async () => model.databases.get('household')?.leasedBy ?? null,
    ageCommits: async (byMs) => {
      model.commits = model.commits.map((commit) => ({ ...commit, committedAtMs: commit.committedAtMs - byMs }));
    },
    forgetCommitsBefore: async (first) => {
      model.commits = model.commits.filter(({ head }) => head >= first);
    },
    returnTo: async (head) => {
      model.commits = model.commits.filter((commit) => commit.head <= head);
      const commitId = model.commits.at(-1)?.commitId as Uint8Array;
      for (const [id, row] of model.databases) model.databases.set(id, { ...row, head, commitId });
      const rows = model.tables.get('accounts')?.rows;
      for (const [key, row] of rows ?? []) if (row.get('id') !== 'x') rows?.delete(key);
    },
    deleteAccount: async (id) => {
      const { rows } = model.tables.get('accounts') ?? { rows: new Map<string, ReadonlyMap<string, string | null>>() };
      for (const [key, row] of rows) if (row.get('id') === id) rows.delete(key);
    },
    endConnections: async () => {
      model.restart();
      await aTurn();
    },
  };
});

transactionsContract('modelled PostgreSQL', async () => {
  const model = modelUnderTest();
  return {
    connections: connectTo(model),
    async countWaiting() {
      await aTurn();
      return model.rowLock('household').waitingCount;
    },
  };
});

describe('a statement that the model does not know', () => {
  it('fails, and is reported with its text', async () => {
    const model = new PostgresModel(REAL_CLOCK);
    const reported: string[] = [];
    model.onUnsupported = ({ message }) => reported.push(message);
    const connections = connectTo(model);
    onTestFinished(() => connections.close());
    await expect(connections.query('SELECT txid_current()')).rejects.toMatchObject({
      fields: { systemCode: '0A000' },
      cause: { message: expect.stringContaining('SELECT txid_current()') },
    });
    expect(reported).toEqual([expect.stringContaining('SELECT txid_current()')]);
  });
});
