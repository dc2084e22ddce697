// `npm run bench -- scale`: the costs from which docs/server.md calculates the limits of the server. Two instances in
// this process on one PostgreSQL, without sockets: notices to many sessions of one database over NOTIFY and NATS, open
// databases, and reading, moving and opening a large one. CPU time is of this process, without PostgreSQL's.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import {
  decodeServerMessage,
  encodeMessage,
  FIRST_LOG_HASH,
  FIRST_PREVIOUS_HASH,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  PROTOCOL_VERSION,
} from '../packages/shared/src/index.ts';
import { createSyncServer } from '../packages/sync-server/src/create-sync-server.ts';
import type { SyncServer, SyncServerOptions } from '../packages/sync-server/src/sync-server.ts';
import { isNatsMissing, NatsServer } from '../packages/sync-server/testing/nats-server.ts';
import { PostgresServer } from '../packages/sync-server/testing/postgres-server.ts';
import { PostgresAdministration } from '../packages/sync-server/src/store/postgres/administration.ts';
import { TEST_SCHEMA } from '../packages/sync-server/testing/test-schema.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';
import { OURS } from './report/target.ts';
import { quantile } from './sync/workload.ts';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sessions: { type: 'string' },
    workloads: { type: 'string', default: 'open,notices,large' },
  },
});
const SESSIONS = Number(flags.sessions ?? (flags.quick ? 500 : 10_000));
const WORKLOADS = new Set(flags.workloads.split(','));
const COMMITS = flags.quick ? 5 : 10;
const DATABASES = flags.quick ? 50 : 300;
const ROWS = flags.quick ? 10_000 : 100_000;
const ROWS_OF_A_TRANSACTION = 5_000;
const JOINS_AT_ONCE = 100;

const samples = new Samples();
function add(workload: string, variant: string, unit: string, value: number): void {
  samples.add({ workload, subject: OURS, variant, unit, better: 'lower' }, value);
  console.log(`  ${workload} ${variant}: ${Number(value.toPrecision(3))} ${unit}`);
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** An instance that admits every client. */
async function startInstance(
  options: Partial<SyncServerOptions>,
): Promise<{ readonly sync: SyncServer; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'rockpool-bench-scale-'));
  const sync = createSyncServer({
    dataDir,
    schema: TEST_SCHEMA,
    authenticate: () => Promise.resolve({ id: 'everybody', expiresAtMs: Date.now() + 86_400_000 }),
    authorize: () => true,
    // The sessions send no pings.
    limits: { maxSessionsPerPrincipal: 1_000_000, silenceLimitMs: 3_600_000 },
    log: () => undefined,
    ...options,
  });
  await sync.ready();
  return {
    sync,
    stop: async () => {
      await sync.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens a session that calls `onDelivery` with the watermark of each delivery. */
function joinDatabase(sync: SyncServer, databaseId: string, onDelivery: (watermark: number) => void): Promise<void> {
  const joined = Promise.withResolvers<void>();
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  const session = sync.connect({
    receive: (frame) => {
      const bytes = assembler.add(frame);
      if (bytes === null) return;
      const message = decodeServerMessage(bytes);
      if (message.type === 'failure') joined.reject(new Error(message.code));
      if (message.type !== 'delivery') return;
      joined.resolve();
      onDelivery(message.to);
    },
    closed: (code) => joined.reject(new Error(`the connection closed with code ${code}`)),
  });
  const hello = encodeMessage({
    type: 'hello',
    protocolVersion: PROTOCOL_VERSION,
    token: 'any',
    databaseId,
    databaseIdentity: null,
    siteId: randomBytes(16),
    schemaHash: TEST_SCHEMA.hash,
    logEpoch: null,
    cursor: 0,
    cursorHash: FIRST_LOG_HASH,
    lastAckedSequence: 0,
    decidedHash: FIRST_PREVIOUS_HASH,
    lastSequence: 0,
    fullResync: false,
    snapshot: 'refused',
  });
  for (const frame of messageToFrames(hello)) session.send(frame);
  return joined.promise;
}

/**
 * Measures the time from a commit on one instance until the last of many sessions on another instance has received it.
 */
async function notices(variant: string, options: Partial<SyncServerOptions>): Promise<void> {
  const [near, far] = [await startInstance(options), await startInstance(options)];
  try {
    const database = near.sync.database('shared');
    await database.transaction((tx) => tx.insert('accounts', { id: 'first', name: 'first' }));
    let reached = Promise.withResolvers<void>();
    let left = 0;
    const beforeCpuMs = cpuMs();
    for (let i = 0; i < SESSIONS; i += JOINS_AT_ONCE)
      await Promise.all(
        Array.from({ length: Math.min(JOINS_AT_ONCE, SESSIONS - i) }, () =>
          joinDatabase(far.sync, 'shared', () => --left === 0 && reached.resolve()),
        ),
      );
    add('SJ', variant, 'ms CPU/session', (cpuMs() - beforeCpuMs) / SESSIONS);
    const [durations, cpu]: [number[], number[]] = [[], []];
    for (let i = 0; i < COMMITS; i++) {
      left = SESSIONS;
      reached = Promise.withResolvers<void>();
      const [startMs, startCpuMs] = [performance.now(), cpuMs()];
      await database.transaction((tx) => tx.insert('accounts', { id: `commit-${i}`, name: `commit ${i}` }));
      await reached.promise;
      durations.push(performance.now() - startMs);
      cpu.push(cpuMs() - startCpuMs);
    }
    add('SN', variant, 'ms', quantile(durations, 0.5));
    add('SNcpu', variant, 'µs CPU/session', (quantile(cpu, 0.5) * 1_000) / SESSIONS);
  } finally {
    await Promise.all([near.stop(), far.stop()]);
  }
}

/** Measures the resident memory of each open database with one session. */
async function openDatabases(options: Partial<SyncServerOptions>): Promise<void> {
  const instance = await startInstance(options);
  try {
    await joinDatabase(instance.sync, 'warm-up', () => undefined);
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    const startCpuMs = cpuMs();
    for (let i = 0; i < DATABASES; i++) await joinDatabase(instance.sync, `db-${i}`, () => undefined);
    globalThis.gc?.();
    add('SM', 'PostgreSQL', 'KB/database', (process.memoryUsage.rss() - before) / DATABASES / 1_024);
    add('SMcpu', 'PostgreSQL', 'ms CPU/database', (cpuMs() - startCpuMs) / DATABASES);
  } finally {
    await instance.stop();
  }
}

/** Opens a large database on a second instance, and moves it to another shard. */
async function large(postgres: PostgresServer): Promise<void> {
  const shards = await Promise.all(
    ['a', 'b'].map(async (name, i) => ({ name, url: (await postgres.createDatabase()).url, weight: 1 - i })),
  );
  const writer = await startInstance({ postgres: shards });
  try {
    const database = writer.sync.database('large');
    for (let from = 0; from < ROWS; from += ROWS_OF_A_TRANSACTION)
      await database.transaction((tx) => {
        for (let i = from; i < from + ROWS_OF_A_TRANSACTION; i++)
          tx.insert('products', { id: `p${i}`, stock: 1n, name: `a product with an ordinary name, number ${i}` });
      });
    const reader = await startInstance({ postgres: shards });
    try {
      const [startMs, startCpuMs] = [performance.now(), cpuMs()];
      await reader.sync.database('large').transaction((tx) => tx.query('SELECT 1'));
      add('SO', `${ROWS} rows`, 'ms', performance.now() - startMs);
      add('SOcpu', `${ROWS} rows`, 'µs CPU/row', ((cpuMs() - startCpuMs) * 1_000) / ROWS);
    } finally {
      await reader.stop();
    }
    const [startMs, startCpuMs] = [performance.now(), cpuMs()];
    let frozenMs = 0;
    await PostgresAdministration.use(shards, (administration) =>
      administration.move('large', 'b', (step) => {
        if (step.startsWith('followed')) frozenMs = performance.now();
        if (step.startsWith('activated')) add('SF', `${ROWS} rows`, 'ms', performance.now() - frozenMs);
      }),
    );
    add('SV', `${ROWS} rows`, 'ms', performance.now() - startMs);
    add('SVcpu', `${ROWS} rows`, 'µs CPU/row', ((cpuMs() - startCpuMs) * 1_000) / ROWS);
  } finally {
    await writer.stop();
  }
}

const postgres = await PostgresServer.start();
try {
  if (WORKLOADS.has('open')) await openDatabases({ postgres: (await postgres.createDatabase()).url });
  if (WORKLOADS.has('notices')) await notices('NOTIFY', { postgres: (await postgres.createDatabase()).url });
  if (!WORKLOADS.has('notices')) console.log('  notices: skipped');
  else if (isNatsMissing) console.log('  nats-server is not in the path: skipped');
  else {
    const nats = await NatsServer.start();
    await notices('NATS', { postgres: (await postgres.createDatabase()).url, nats: { servers: [nats.url] } });
    await nats.kill();
  }
  if (WORKLOADS.has('large')) await large(postgres);
} finally {
  await postgres.stop();
}
report('scale', samples.rows(), [], !flags.quick && SESSIONS === 10_000 && WORKLOADS.size === 3);
