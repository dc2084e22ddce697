// `npm run bench -- instances`: one instance on files, one on PostgreSQL, and three on one PostgreSQL; in Node, over
// loopback. Has no peers, because it shows only what instances cost.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { encodeSchema } from '../packages/shared/src/index.ts';
import { PostgresServer } from '../packages/sync-server/testing/postgres-server.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';
import { OURS, type Target } from './report/target.ts';
import { SYNC_SUBJECTS, type SyncSubject } from './sync/engines.ts';
import { schema, SECRET } from './sync/engines/rockpool-shared.ts';
import { startClients } from './sync/processes.ts';
import { quantile, sleep } from './sync/workload.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ROWS_OF_EACH = flags.quick ? 300 : 2_000;
const LIVE_WRITES = flags.quick ? 30 : 200;
const ROUNDS = flags.quick ? 1 : 3;
const WRITERS = 3;
const GAP_MS = 15;
const SETTLE_MS = 2_000;
const TIMEOUT_MS = 120_000;
const FIRST_LIVE_ROW = 1_000_000;

const BIN = join(import.meta.dirname, '../packages/sync-server/bin/rockpool-server.mjs');
const [rockpool] = SYNC_SUBJECTS as readonly [SyncSubject, ...SyncSubject[]];

interface Instance {
  readonly port: number;
  kill(): void;
  stop(): Promise<void>;
}

async function startInstance(postgres: string | null): Promise<Instance> {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-instances-'));
  writeFileSync(join(folder, 'schema.json'), encodeSchema(schema));
  writeFileSync(join(folder, 'secret'), SECRET);
  const args = [
    BIN,
    'serve',
    '--data',
    join(folder, 'data'),
    '--schema',
    join(folder, 'schema.json'),
    '--secret-file',
    join(folder, 'secret'),
    '--port',
    '0',
    ...(postgres === null ? [] : ['--postgres', postgres]),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  return {
    port: await portOf(child),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      const ended =
        child.exitCode !== null || child.signalCode !== null
          ? null
          : new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      const [, port] = /listening on \S+:(\d+)/.exec(chunk.toString()) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
    child.once('close', (code) => reject(new Error(`the server exited with code ${code}`)));
  });
}

/**
 * Measures changesets per second until all clients have all rows: several writers on one database, each with a backlog
 * of one transaction per row.
 */
async function throughput(ports: readonly number[]): Promise<number> {
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, (_, i) => startClients(rockpool, ports[i % ports.length] as number, `w${i}`)),
  );
  try {
    await Promise.all(writers.map((writer, i) => writer.insertEach(i * ROWS_OF_EACH, ROWS_OF_EACH)));
    const startMs = performance.now();
    await Promise.all(writers.map((writer) => writer.connect()));
    await Promise.all(writers.map((writer) => writer.waitForCount(WRITERS * ROWS_OF_EACH, TIMEOUT_MS)));
    return (WRITERS * ROWS_OF_EACH * 1000) / (performance.now() - startMs);
  } finally {
    await Promise.all(writers.map((writer) => writer.end()));
  }
}

/** Time from a write on one client until another client is notified, possibly by a different instance. */
async function propagation(ports: readonly number[]): Promise<number[]> {
  const [a, b] = await Promise.all([
    startClients(rockpool, ports[0] as number, 'a'),
    startClients(rockpool, ports.at(-1) as number, 'b'),
  ]);
  try {
    await Promise.all([a.connect(), b.connect()]);
    await a.insertEach(FIRST_LIVE_ROW * 3, 1);
    await b.waitForCount(WRITERS * ROWS_OF_EACH + 1, TIMEOUT_MS);
    const written = await a.insertPaced(FIRST_LIVE_ROW, LIVE_WRITES, GAP_MS);
    await sleep(SETTLE_MS);
    return await b.latencies(written);
  } finally {
    await Promise.all([a.end(), b.end()]);
  }
}

/** A stand-in for a load balancer: sends a connection to the first instance that accepts it. */
function balance(ports: readonly number[]): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((client) => {
    const tryNext = ([port, ...others]: readonly number[]): void => {
      if (port === undefined) return void client.destroy();
      const instance = connect(port, '127.0.0.1');
      let isTaken = false;
      instance.once('connect', () => {
        isTaken = true;
        client.pipe(instance).pipe(client);
      });
      instance.once('close', () => (isTaken ? client.destroy() : tryNext(others)));
      instance.on('error', () => undefined);
      client.on('error', () => instance.destroy());
    };
    tryNext(ports);
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => server.close() }),
    ),
  );
}

/**
 * Kills the instance to which a writer is connected. Returns the time until the writer's next write reaches a reader on
 * a different instance.
 */
async function takeOver(instances: readonly Instance[]): Promise<number> {
  const [doomed, ...others] = instances as readonly [Instance, ...Instance[]];
  const front = await balance(instances.map(({ port }) => port));
  const [a, b] = await Promise.all([
    startClients(rockpool, front.port, 'a'),
    startClients(rockpool, others[0]?.port ?? 0, 'b'),
  ]);
  try {
    await Promise.all([a.connect(), b.connect()]);
    const present = WRITERS * ROWS_OF_EACH + 1 + LIVE_WRITES;
    await Promise.all([a.waitForCount(present, TIMEOUT_MS), b.waitForCount(present, TIMEOUT_MS)]);
    const startMs = performance.now();
    doomed.kill();
    await a.insertEach(FIRST_LIVE_ROW * 5, 1);
    await b.waitForCount(present + 1, TIMEOUT_MS);
    return performance.now() - startMs;
  } finally {
    await Promise.all([a.end(), b.end()]);
    front.close();
  }
}

const DEPLOYMENTS = [
  { variant: 'one on files', instances: 1, isShared: false },
  { variant: 'one on PostgreSQL', instances: 1, isShared: true },
  { variant: 'three on PostgreSQL', instances: 3, isShared: true },
] as const;

/**
 * At least 800 changesets per second, one for each write. After SIGKILL of an instance, deliveries resume within 2 s.
 */
const TARGETS: readonly Target[] = DEPLOYMENTS.flatMap(({ variant, instances }): Target[] => [
  {
    workload: 'IT',
    title: 'changesets per second from three writers to one database',
    variant,
    atMost: 800,
    isAtLeast: true,
    of: 'absolute',
  },
  ...(instances === 1
    ? []
    : [
        {
          workload: 'IK',
          title: 'from SIGKILL of a writer’s instance until its next write reaches a reader on another instance',
          variant,
          atMost: 2_000,
          of: 'absolute',
        } as const,
      ]),
]);

async function measure(
  samples: Samples,
  { variant, instances: count, isShared }: (typeof DEPLOYMENTS)[number],
  postgres: PostgresServer,
): Promise<void> {
  const add = (workload: string, unit: string, value: number, better: 'lower' | 'higher' = 'lower'): void => {
    samples.add({ workload, subject: OURS, variant, unit, better }, value);
    console.log(`  ${workload} ${variant}: ${Number(value.toPrecision(3))} ${unit}`);
  };
  const url = isShared ? (await postgres.createDatabase()).url : null;
  const instances = await Promise.all(Array.from({ length: count }, () => startInstance(url)));
  try {
    const ports = instances.map(({ port }) => port);
    add('IT', 'changesets/s', await throughput(ports), 'higher');
    const latencies = await propagation(ports);
    add('IPp50', 'ms', quantile(latencies, 0.5));
    add('IPp99', 'ms', quantile(latencies, 0.99));
    if (count > 1) add('IK', 'ms', await takeOver(instances));
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()));
  }
}

const samples = new Samples();
const postgres = await PostgresServer.start({ durable: true });
try {
  for (let round = 0; round < ROUNDS; round++)
    for (const deployment of DEPLOYMENTS) await measure(samples, deployment, postgres);
} finally {
  await postgres.stop();
}
report('instances', samples.rows(), TARGETS, !flags.quick);
