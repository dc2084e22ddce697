import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';
import { insert, update } from './changeset.ts';
import { deliveredRows } from './delivered-rows.ts';
import { PostgresServer } from './postgres-server.ts';
import { serverFlags, ServerProcess } from './server-process.ts';
import { SlowLink } from './slow-link.ts';
import { SmallDisk } from './small-disk.ts';
import { TestSite, type TestConnection } from './test-client.ts';
import { DATABASE } from './test-server.ts';

/** What happens to PostgreSQL while clients write. */
export const FAULTS = ['kill', 'shutdown', 'pause', 'slow link', 'silent link', 'full disk', 'failover'] as const;
type Fault = (typeof FAULTS)[number];

export interface ChaosPlan {
  /** The minimum duration of the run. It also continues until each possible fault has happened at least once. */
  readonly durationMs: number;
}

/** What the run found; each number should be 0. */
export type ChaosViolations = Readonly<
  Record<
    | 'acknowledged changesets missing'
    | 'changesets stored twice'
    | 'changesets rejected'
    | 'increments lost or doubled'
    | 'acknowledgements taken back'
    | 'instances that differ',
    number
  >
>;

export const NO_VIOLATIONS: ChaosViolations = {
  'acknowledged changesets missing': 0,
  'changesets stored twice': 0,
  'changesets rejected': 0,
  'increments lost or doubled': 0,
  'acknowledgements taken back': 0,
  'instances that differ': 0,
};

export interface ChaosReport {
  readonly violations: ChaosViolations;
  /** How often each fault happened. A full disk needs the right to mount a file system. */
  readonly faults: ReadonlyMap<Fault, number>;
  readonly changesets: number;
}

const INSTANCES = 2;
const WRITERS = 3;
/** Changesets of one push. */
const PUSH_SIZE = 5;
/** Changesets that each writer commits between two faults. */
const PROGRESS = 20;
/** Enough for PostgreSQL's write-ahead log and this run's rows, and little more. */
const DISK_MEGABYTES = 400;
const SLOW_MS = 200;
/** Some pauses are longer than the lock timeout of a transaction, 10 s. */
const MAX_PAUSE_MS = 15_000;
const MAX_SHUTDOWN_MS = 5_000;
const MAX_RETRY_MS = 500;
const POLL_MS = 20;

/** A client that writes all the time, through any instance, and connects again after each failure. */
class Writer {
  readonly site = new TestSite();
  rejected = 0;
  takenBack = 0;
  failures = 0;
  isDone = false;
  private readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  get acknowledged(): number {
    return this.site.lastAckedSequence;
  }

  async run(instances: readonly ServerProcess[]): Promise<void> {
    while (!this.isDone || this.acknowledged < this.site.changelog.length) {
      const instance = instances[Math.floor(Math.random() * instances.length)] as ServerProcess;
      let connection: TestConnection | null = null;
      try {
        connection = await instance.connect(this.site);
        await this.use(connection, await instance.token());
      } catch {
        // Whatever went wrong, the server has ended the session. If it has not, this fails.
        await connection?.closes();
        this.failures++;
      }
      connection?.cut();
      await delay(Math.random() * MAX_RETRY_MS);
    }
  }

  private async use(connection: TestConnection, token: string): Promise<void> {
    const before = this.acknowledged;
    const { welcome } = await connection.open(token, DATABASE);
    if (welcome.lastAckedSequence < before) this.takenBack++;
    while (!this.isDone || this.acknowledged < this.site.changelog.length) {
      if (!this.isDone) for (let i = 0; i < PUSH_SIZE; i++) this.write();
      connection.push();
      const { outcomes } = await connection.decided(this.site.changelog.length);
      this.rejected += outcomes.filter(({ kind }) => kind !== 'admitted').length;
      connection.confirm();
    }
  }

  private write(): void {
    const number = this.site.changelog.length + 1;
    this.site.write([
      insert('entries', `${this.prefix}${number}`, { amount: BigInt(number) }),
      update('products', 'counted', { stock: 1n }),
    ]);
  }
}

/** Two instances in separate processes, each with its own link to a PostgreSQL server that fails again and again. */
class Chaos {
  readonly disk = SmallDisk.mount(DISK_MEGABYTES);
  readonly writers = Array.from({ length: WRITERS }, (_, i) => new Writer(`w${i}-`));
  readonly happened = new Map<Fault, number>(FAULTS.map((fault) => [fault, 0]));
  instances: readonly ServerProcess[] = [];
  postgres!: PostgresServer;
  databaseName = '';
  private links: readonly SlowLink[] = [];
  private isOnDisk = this.disk !== null;

  async open(): Promise<void> {
    this.postgres = await PostgresServer.start(this.disk === null ? {} : { parent: this.disk.folder });
    this.databaseName = (await this.postgres.createDatabase()).name;
    this.links = await Promise.all(Array.from({ length: INSTANCES }, () => SlowLink.open(this.postgres.port, 0)));
    const instances: ServerProcess[] = [];
    for (const { port } of this.links) {
      const folder = temporaryFolder();
      const url = this.postgres.urlOf(this.databaseName, port);
      instances.push(await ServerProcess.start(folder, [...serverFlags(folder), '--postgres', url]));
    }
    this.instances = instances;
    const [first] = instances as [ServerProcess];
    const connection = await first.connect();
    await connection.open(await first.token(), DATABASE);
    await connection.commit([insert('products', 'counted', { stock: 0n })]);
    await connection.close();
  }

  /**
   * The faults that are still possible. The disk of fixed size cannot be filled after the first failover, which leaves
   * it behind.
   */
  get possible(): readonly Fault[] {
    return FAULTS.filter((fault) => fault !== 'full disk' || this.isOnDisk);
  }

  async cause(fault: Fault): Promise<void> {
    await this.faults[fault]();
    this.happened.set(fault, (this.happened.get(fault) ?? 0) + 1);
  }

  private get failures(): number {
    return this.writers.reduce((sum, { failures }) => sum + failures, 0);
  }

  /**
   * Resolves once PostgreSQL responds again, and restarts it if necessary: when it cannot write its log, it ends, or
   * recovers by itself once there is room.
   */
  private async restartIfEnded(): Promise<void> {
    for (;;) {
      if (this.postgres.hasEnded) return this.postgres.restart();
      const answers = await this.postgres.query('postgres', 'SELECT 1').catch(() => []);
      if (answers.length > 0) return;
      await delay(POLL_MS);
    }
  }

  /** Resolves once every writer has committed more changesets. */
  async progress(): Promise<void> {
    const goals = this.writers.map(({ acknowledged }) => acknowledged + PROGRESS);
    while (this.writers.some(({ acknowledged }, i) => acknowledged < (goals[i] as number))) await delay(POLL_MS);
  }

  async violations(): Promise<ChaosViolations> {
    const ask = async (sql: string): Promise<number> =>
      Number((await this.postgres.query(this.databaseName, sql))[0]?.[0]);
    const sum = (of: (writer: Writer) => number): number => this.writers.reduce((all, writer) => all + of(writer), 0);
    const total = sum(({ acknowledged }) => acknowledged);
    const logged = await ask('SELECT count(*) - 1 FROM rockpool.rockpool_log');
    const distinct = await ask('SELECT count(DISTINCT (site_number, sequence)) - 1 FROM rockpool.rockpool_log');
    return {
      'acknowledged changesets missing': total - (await ask('SELECT count(*) FROM rockpool.entries')),
      'changesets stored twice': logged - distinct,
      'changesets rejected': sum(({ rejected }) => rejected),
      'increments lost or doubled': total - (await ask(`SELECT stock FROM rockpool.products WHERE id = 'counted'`)),
      'acknowledgements taken back': sum(({ takenBack }) => takenBack),
      'instances that differ': (await this.differing(total)).length,
    };
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.signal('SIGKILL');
    for (const link of this.links) await link.close();
    await this.postgres.stop();
    this.disk?.unmount();
  }

  /** The instances from which a new client does not receive all rows. */
  private async differing(total: number): Promise<ServerProcess[]> {
    const differing: ServerProcess[] = [];
    for (const instance of this.instances) {
      const connection = await instance.connect();
      const { first } = await connection.open(await instance.token(), DATABASE);
      if (deliveredRows(first, 'entries').length !== total) differing.push(instance);
      await connection.close();
    }
    return differing;
  }

  private readonly faults: Readonly<Record<Fault, () => Promise<void>>> = {
    kill: async () => {
      await this.postgres.kill();
      await this.postgres.restart();
    },
    shutdown: async () => {
      await this.postgres.shutDown();
      await delay(Math.random() * MAX_SHUTDOWN_MS);
      await this.postgres.restart();
    },
    pause: async () => {
      this.postgres.pause();
      await delay(Math.random() * MAX_PAUSE_MS);
      this.postgres.resume();
    },
    'slow link': async () => {
      const [link] = this.links as [SlowLink];
      link.maxDelayMs = SLOW_MS;
      await this.progress();
      link.maxDelayMs = 0;
    },
    'silent link': () => {
      this.links[Math.floor(Math.random() * INSTANCES)]?.fallSilent();
      return Promise.resolve();
    },
    'full disk': async () => {
      const { failures } = this;
      this.disk?.fill();
      // Uses up the files that PostgreSQL has in reserve for its log. It then fails commits, or ends.
      while (this.failures === failures)
        await this.postgres.query('postgres', 'SELECT pg_switch_wal()').catch(() => delay(POLL_MS));
      this.disk?.free();
      await this.restartIfEnded();
    },
    failover: async () => {
      const replica = await this.postgres.startReplica();
      await this.progress();
      await this.postgres.kill();
      await replica.promote();
      for (const link of this.links) link.to = replica.port;
      await this.postgres.stop();
      this.postgres = replica;
      this.isOnDisk = false;
    },
  };
}

/**
 * Clients write through two instances while one fault after another happens to their PostgreSQL server. After each
 * fault, every client has to make progress again by itself. Compares what was acknowledged with what is stored in the
 * end.
 */
export async function runPostgresChaos({ durationMs }: ChaosPlan): Promise<ChaosReport> {
  const chaos = new Chaos();
  onTestFinished(() => chaos.close());
  await chaos.open();
  const startMs = performance.now();
  const writing = Promise.all(chaos.writers.map((writer) => writer.run(chaos.instances)));
  const failed = writing.then(() => undefined);
  for (let round = 0; round < FAULTS.length || performance.now() - startMs < durationMs; round++) {
    const { possible } = chaos;
    const once = FAULTS[round];
    const fault = once ?? (possible[Math.floor(Math.random() * possible.length)] as Fault);
    if (!possible.includes(fault)) continue;
    await Promise.race([chaos.progress().then(() => chaos.cause(fault)), failed]);
    await Promise.race([chaos.progress(), failed]);
    const seconds = Math.round((performance.now() - startMs) / 1000);
    console.log(
      `${seconds} s: ${fault}; acknowledged ${chaos.writers.map(({ acknowledged }) => acknowledged).join(' ')}`,
    );
  }
  for (const writer of chaos.writers) writer.isDone = true;
  await writing;
  const violations = await chaos.violations();
  const changesets = chaos.writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  return { violations, faults: chaos.happened, changesets };
}
