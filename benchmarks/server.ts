// `npm run bench -- server`: one server process over loopback, with 1, 2 and 4 threads that own databases. Measures how
// one tenant can affect the others, many databases, many clients of one database, and the return of all clients after
// SIGKILL. A line's figure is the median of its rounds: a 99th percentile varies by half between rounds. `--rounds N`,
// `--threads 2,4`, `--workloads attacks`, `--quick`.
import { parseArgs } from 'node:util';
import { insert } from '../packages/sync-server/testing/changeset.ts';
import { TestSite, type TestConnection } from '../packages/sync-server/testing/test-client.ts';
import { ownerOf } from '../packages/sync-server/src/threads/owner-of.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';
import { OURS, type Target } from './report/target.ts';
import { ATTACK_NAMES, startAttack } from './server/attacks.ts';
import { BareServer } from './server/bare-server.ts';
import { HonestLoad, type HonestFigures } from './server/honest-load.ts';
import { MeasuredServer, openAgain } from './server/server-process.ts';
import { quantile, sleep } from './sync/workload.ts';

const ALL_THREADS = '1,2,4';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    threads: { type: 'string', default: ALL_THREADS },
    workloads: { type: 'string', default: 'attacks,many,one' },
  },
});
const isQuick = flags.quick;
const ROUNDS = Number(flags.rounds ?? (isQuick ? 1 : 3));
const THREADS = flags.threads.split(',').map(Number);
const WORKLOADS = new Set(flags.workloads.split(','));
const HONEST_DATABASES = 10;
const MEASURED_MS = isQuick ? 3_000 : 10_000;
const DATABASES = isQuick ? 100 : 1_000;
const CLIENTS = isQuick ? 100 : 1_000;
const WRITES_EACH = isQuick ? 5 : 20;
const WRITERS = 20;
const AT_ONCE = 100;
const SETTLE_MS = 2_000;
const ATTACKER = 'attacker';

const samples = new Samples();

function add(
  workload: string,
  threads: number,
  unit: string,
  value: number,
  better: 'lower' | 'higher' = 'lower',
): void {
  const variant = threads === 1 ? '1 thread' : `${threads} threads`;
  samples.add({ workload, subject: OURS, variant, unit, better }, value);
  console.log(`  ${workload} ${variant}: ${Number(value.toPrecision(3))} ${unit}`);
}

/** Ids of databases on the attacker's thread, or on others. */
function databasesOf(threads: number, isOfAttacker: boolean): string[] {
  const owner = ownerOf(ATTACKER, threads);
  const found: string[] = [];
  for (let i = 0; found.length < HONEST_DATABASES; i++)
    if (threads === 1 || (ownerOf(`honest-${i}`, threads) === owner) === isOfAttacker) found.push(`honest-${i}`);
  return found;
}

async function attacks(threads: number): Promise<void> {
  for (const attack of ATTACK_NAMES) {
    const server = new MeasuredServer(threads);
    await server.start();
    const bare = await BareServer.start();
    try {
      const open = (isOfAttacker: boolean): Promise<HonestLoad> =>
        HonestLoad.open(server.port, bare.port, databasesOf(threads, isOfAttacker));
      const elsewhere = await open(false);
      const neighbours = threads === 1 ? null : await open(true);
      await elsewhere.measure(SETTLE_MS);
      const before = await elsewhere.measure(MEASURED_MS);
      const stop = await startAttack(attack, server.port, ATTACKER);
      server.peakBytes();
      const startedCpuMs = server.cpuMs();
      const [during, beside] = await Promise.all([elsewhere.measure(MEASURED_MS), neighbours?.measure(MEASURED_MS)]);
      const cpuMs = server.cpuMs() - startedCpuMs;
      const steps = await stop();
      addAttack(attack, threads, before, during, beside);
      add(`S-${attack}-peak`, threads, 'MB', server.peakBytes() / 1e6);
      if (steps > 0) add(`S-${attack}-cpu`, threads, 'ms CPU/step', cpuMs / steps);
      elsewhere.close();
      neighbours?.close();
    } finally {
      bare.stop();
      await server.remove();
    }
  }
}

function addAttack(
  attack: string,
  threads: number,
  before: HonestFigures,
  during: HonestFigures,
  beside: HonestFigures | undefined,
): void {
  const ratio = (share: number, figures: HonestFigures): number =>
    quantile(figures.commitMs, share) / quantile(before.commitMs, share);
  add(`S-${attack}-p50`, threads, '× without the attack', ratio(0.5, during));
  add(`S-${attack}-p99`, threads, '× without the attack', ratio(0.99, during));
  if (beside !== undefined) add(`S-${attack}-same-p99`, threads, '× without the attack', ratio(0.99, beside));
  add(`S-${attack}-base-p99`, threads, 'ms', quantile(before.commitMs, 0.99));
  add(`S-${attack}-health-p99`, threads, 'ms', quantile(during.healthMs, 0.99));
  add(`S-${attack}-bare-p99`, threads, 'ms', quantile(during.bareMs, 0.99));
}

/** Connects clients, 100 at a time. */
async function connectAll(port: number, databaseIds: readonly string[]): Promise<TestConnection[]> {
  const connections: TestConnection[] = [];
  for (let first = 0; first < databaseIds.length; first += AT_ONCE)
    connections.push(
      ...(await Promise.all(
        databaseIds.slice(first, first + AT_ONCE).map((id) => openAgain(port, id, new TestSite())),
      )),
    );
  return connections;
}

/** Each writer writes its next row once the previous row is acknowledged. */
async function writeAll(writers: readonly TestConnection[]): Promise<{ perSecond: number; latenciesMs: number[] }> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  await Promise.all(
    writers.map(async (connection, writer) => {
      for (let i = 0; i < WRITES_EACH; i++) {
        const writtenMs = performance.now();
        await connection.commit([insert('accounts', `w${writer}-${i}`, { name: 'x' })]);
        latenciesMs.push(performance.now() - writtenMs);
      }
      connection.confirm();
    }),
  );
  return { perSecond: (latenciesMs.length * 1000) / (performance.now() - startMs), latenciesMs };
}

async function crowd(
  workload: 'SD' | 'SC',
  threads: number,
  databaseIds: readonly string[],
  writers: number,
): Promise<void> {
  const server = new MeasuredServer(threads);
  await server.start();
  try {
    const warm = await connectAll(
      server.port,
      Array.from({ length: AT_ONCE }, () => 'warm'),
    );
    await sleep(SETTLE_MS);
    const emptyBytes = server.residentBytes();
    const connections = await connectAll(server.port, databaseIds);
    await sleep(SETTLE_MS);
    add(`${workload}-memory`, threads, 'KB each', (server.residentBytes() - emptyBytes) / connections.length / 1e3);
    const startedCpuMs = server.cpuMs();
    const { perSecond, latenciesMs } = await writeAll(connections.slice(0, writers));
    add(`${workload}-writes`, threads, 'writes/s', perSecond, 'higher');
    add(`${workload}-p50`, threads, 'ms', quantile(latenciesMs, 0.5));
    add(`${workload}-p99`, threads, 'ms', quantile(latenciesMs, 0.99));
    add(`${workload}-cpu`, threads, 'ms CPU/write', (server.cpuMs() - startedCpuMs) / latenciesMs.length);
    const sites = connections.map(({ site }) => site);
    await server.kill();
    await server.start();
    const startMs = performance.now();
    await Promise.all(sites.map((site, i) => openAgain(server.port, databaseIds[i] as string, site)));
    add(`${workload}-return`, threads, 'ms', performance.now() - startMs);
    for (const connection of warm) connection.cut();
  } finally {
    await server.remove();
  }
}

const LINES: Readonly<Record<string, (threads: number) => Promise<void>>> = {
  attacks,
  many: (threads) =>
    crowd(
      'SD',
      threads,
      Array.from({ length: DATABASES }, (_, i) => `database-${i}`),
      DATABASES,
    ),
  one: (threads) =>
    crowd(
      'SC',
      threads,
      Array.from({ length: CLIENTS }, () => 'one'),
      WRITERS,
    ),
};

const TITLES: Readonly<Record<(typeof ATTACK_NAMES)[number], string>> = {
  changesets: 'changesets of 131,000 rows back to back',
  viewer: 'a viewer that reconnects in a loop to 100,000 rows',
  cascade: 'deletes of parents with 30,000 unseen children',
};

/** With threads, other tenants keep their speed, and health probes get a response at once. */
const TARGETS: readonly Target[] = THREADS.filter((threads) => threads > 1).flatMap((threads): Target[] => {
  const line = { variant: `${threads} threads`, of: 'absolute' } as const;
  return [
    ...ATTACK_NAMES.flatMap((attack): Target[] => [
      { ...line, workload: `S-${attack}-p99`, title: `commits elsewhere (p99) during ${TITLES[attack]}`, atMost: 3 },
      { ...line, workload: `S-${attack}-health-p99`, title: `/health (p99) during ${TITLES[attack]}`, atMost: 50 },
    ]),
    { ...line, workload: 'SD-memory', title: 'an open database with one client', atMost: 200 },
    { ...line, workload: 'SC-memory', title: 'a session', atMost: 25 },
    { ...line, workload: 'SD-return', title: '1,000 databases: all clients back after SIGKILL', atMost: 5_000 },
    { ...line, workload: 'SC-return', title: 'one database: 1,000 clients back after SIGKILL', atMost: 5_000 },
  ];
});

for (let round = 0; round < ROUNDS; round++)
  for (const threads of THREADS) for (const name of WORKLOADS) await LINES[name]?.(threads);
const isWhole = !isQuick && flags.rounds === undefined && flags.threads === ALL_THREADS && WORKLOADS.size === 3;
report('server', samples.rows(), TARGETS, isWhole);
process.exit(0);
