import { join } from 'node:path';
import type { Schema } from '#shared/index.ts';
import { PostgresBus } from '#sync-server/bus/postgres-bus.ts';
import { Connections, type OpenPool } from '#sync-server/postgres/connection.ts';
import type { DatabaseFile } from '#sync-server/store/database-file.ts';
import { mirroredTables, type MirroredTable } from '#sync-server/store/postgres/mirrored-table.ts';
import { PostgresStore } from '#sync-server/store/postgres/postgres-store.ts';
import type { WorkingCopy } from '#sync-server/store/postgres/working-copy.ts';
import type { Random } from '../random.ts';
import { DATABASE_ID, type EndOfServer, type ServerDisk } from '../server-disk.ts';
import type { OpenedStore, ServerStorage, StoreProcess } from '../server-storage.ts';
import { differenceFromModel, readModel } from './model-copy.ts';
import { PostgresModel, type ModelClock, type ModelState, type Written } from './postgres-model.ts';
import { SimulatedPool, type Passage } from './simulated-pool.ts';

export interface PostgresStorageOptions {
  readonly clock: ModelClock;
  readonly random: Random;
  readonly schema: Schema;
  /** Used only for its folders. */
  readonly disk: ServerDisk;
  readonly instances: number;
  /** Whether round trips take time and connections sometimes fail. */
  readonly isSlow: boolean;
  readonly count: (what: string) => void;
  /** Called some time after a commit, to determine which instances have not followed it. */
  readonly onBehind: (follows: (file: DatabaseFile) => boolean, watermark: number) => void;
}

/** What is committed in PostgreSQL at one moment. */
export interface Committed {
  readonly watermark: number;
  readonly hash: Uint8Array;
  readonly logEpoch: Uint8Array;
  readonly restores: number;
}

/** The delays of one direction in ms; sometimes a connection is busy. */
const DELAYS_MS = [0, 0, 0, 0, 0, 1, 1, 3, 30] as const;

/** How late a notification is, in ms: some arrive only after the poll has found what they announce. */
const NOTICE_DELAYS_MS = [0, 1, 5, 40, 1_500, 5_000] as const;

/**
 * The time in which every instance follows a commit, even if its notice does not arrive: one poll, and the round trips
 * of a catch-up that waits for running commits.
 */
const FOLLOW_MS = 8_000;

/** How long a lost connection, a lease or a silent connection may delay an instance. */
const TROUBLE_MS = { lost: 15_000, leased: 20_000, silent: 90_000 } as const;

const POLL_SQL = 'SELECT id, head, commit_id FROM rockpool.rockpool_database WHERE id = ANY';

const FAILURES: readonly Passage[] = ['lost before', 'lost after'];

function hashOf(log: DatabaseFile['log']): Uint8Array {
  return log.hashAt(log.watermark);
}

/** Several processes that share PostgreSQL: the shipped store, driver calls and bus over a model of PostgreSQL. */
export class PostgresStorage implements ServerStorage {
  readonly instances: number;
  readonly frames = 0;
  /** The number of upcoming commits whose connection is lost. */
  failingCommits = 0;
  /** Whether a connection was lost, so that errors of the store are justified. */
  hasHadTrouble = false;
  wasRestored = false;
  /** How often a backup was restored. */
  restores = 0;
  /** Polls fail until this time. */
  private noPollsUntilMs = 0;
  /** Until this time, an instance may wait for PostgreSQL or for another instance. */
  private troubleUntilMs = 0;
  private readonly options: PostgresStorageOptions;
  private readonly model: PostgresModel;
  private readonly tables: ReadonlyMap<string, MirroredTable>;
  private readonly pools = new Map<number, SimulatedPool>();
  /** Follows the commits of the model by their changesets, like an instance that never dies. */
  private observer: WorkingCopy | null = null;
  private backup: ModelState | null = null;
  private lives = 0;

  constructor(options: PostgresStorageOptions) {
    this.options = options;
    this.instances = options.instances;
    this.model = new PostgresModel(options.clock);
    this.model.onCommit = (written) => this.onCommit(written);
    this.tables = new Map(mirroredTables(options.schema).map((table) => [table.name, table]));
  }

  get hasBackup(): boolean {
    return this.backup !== null;
  }

  get snapshotPath(): string {
    return this.options.disk.snapshotPath;
  }

  openStore(instance: number, process: StoreProcess): OpenedStore {
    const { schema, disk } = this.options;
    const openPool: OpenPool = (config) => {
      const pool = this.openPool(config, process);
      this.pools.set(instance, pool);
      return pool as unknown as ReturnType<OpenPool>;
    };
    const connections = new Connections('postgres://model', { openPool });
    const onError = (error: unknown): void => process.onError(error);
    const bus = new PostgresBus(connections, onError);
    const store = new PostgresStore({
      connections,
      bus,
      dataDir: join(disk.dataDir, `instance-${++this.lives}`),
      schema,
      measureCommit: () => undefined,
      onError,
    });
    return { store, bus };
  }

  end(instance: number, how: EndOfServer): void {
    this.pools.get(instance)?.die();
    this.pools.delete(instance);
    if (how.kind === 'power loss' && this.options.random.chance(0.5)) this.restartPostgres();
  }

  committed(): DatabaseFile | null {
    return this.observer?.file ?? null;
  }

  backUp(): void {
    const state = this.model.snapshot(this);
    this.model.forget(this);
    this.backup = { ...state, rows: new Map([...state.rows].map(([name, rows]) => [name, new Map(rows)])) };
  }

  restore(): void {
    if (this.backup === null) return;
    this.hasHadTrouble = true;
    this.wasRestored = true;
    this.restores++;
    this.model.restore(this.backup);
    this.observe();
  }

  /** The currently committed state, to compare with a later state of an instance; null if there is no database yet. */
  position(): Committed | null {
    const { observer, restores } = this;
    if (observer === null) return null;
    const { log, logEpoch } = observer.file;
    return { watermark: log.watermark, hash: hashOf(log), logEpoch: logEpoch.id, restores };
  }

  /** Whether the log of an instance reaches this state. A log that has since lost its end cannot be compared. */
  follows({ log }: DatabaseFile, committed: Committed): boolean {
    const { watermark, hash, restores } = committed;
    if (restores !== this.restores) return true;
    return log.watermark >= watermark && Buffer.compare(log.hashAt(watermark), hash) === 0;
  }

  private expectTrouble(kind: keyof typeof TROUBLE_MS): void {
    this.troubleUntilMs = Math.max(this.troubleUntilMs, this.options.clock.nowMs() + TROUBLE_MS[kind]);
  }

  /** Checks that every instance that has the database open follows a commit, or a restore, in time. */
  private watchFollowers(): void {
    const { clock, onBehind } = this.options;
    const committed = this.position();
    if (committed === null) return;
    clock.after(FOLLOW_MS, () => {
      if (clock.nowMs() < this.troubleUntilMs) return;
      onBehind((file) => this.follows(file, committed), committed.watermark);
    });
  }

  /** Null if the rows of PostgreSQL are those of the copies that have followed every commit. */
  difference(copies: readonly DatabaseFile[]): string | null {
    if (this.observer === null) return null;
    const { file } = this.observer;
    const isLast = ({ log }: DatabaseFile): boolean => Buffer.compare(hashOf(log), hashOf(file.log)) === 0;
    for (const copy of [file, ...copies.filter(isLast)]) {
      const difference = differenceFromModel(this.model, this.tables, copy, DATABASE_ID);
      if (difference !== null) return difference;
    }
    return null;
  }

  remove(): void {
    this.observer?.file.sql.close();
    this.observer = null;
    this.options.disk.remove();
  }

  /** Makes the polls of all instances fail for a while, so that they receive commits only by notices. */
  failPolls(forMs: number): void {
    this.noPollsUntilMs = this.options.clock.nowMs() + forMs;
  }

  private restartPostgres(): void {
    this.hasHadTrouble = true;
    this.expectTrouble('lost');
    this.options.count('PostgreSQL restarted');
    this.model.restart();
  }

  private onCommit({ commits }: Written): void {
    if (this.observer === null || commits.some(({ changeset }) => changeset.length === 0)) return this.observe();
    for (const { changeset, head, commitId } of commits) this.observer.apply(changeset, { head, commitId });
    this.watchFollowers();
  }

  private observe(): void {
    this.observer?.file.sql.close();
    this.observer = readModel(this.model, this.tables, this.options.schema, DATABASE_ID);
    this.watchFollowers();
  }

  private openPool(config: Parameters<OpenPool>[0], process: StoreProcess): SimulatedPool {
    const { random, isSlow, count } = this.options;
    return new SimulatedPool(
      this.model,
      {
        delayMs: () => (isSlow ? random.pick(DELAYS_MS) : 0),
        passageOf: (sql) => this.passageOf(sql),
        onTraffic: (sql, when) => {
          if (sql === 'COMMIT') process.onCommit(when);
          if (when === 'sent') this.countStatement(sql);
        },
        notifications: () => {
          if (!isSlow) return [0];
          if (random.chance(0.2)) {
            count('notice between instances lost');
            return [];
          }
          const times = random.chance(0.1) ? 2 : 1;
          if (times > 1) count('notice between instances doubled');
          const delays = Array.from({ length: times }, () => random.pick(NOTICE_DELAYS_MS));
          if (Math.max(...delays) > 1_000) count('notice between instances late');
          return delays;
        },
        run: (body) => process.run(body),
      },
      config,
    );
  }

  private passageOf(sql: string): Passage {
    const { random, isSlow, count } = this.options;
    let passage: Passage = 'arrives';
    if (sql === 'COMMIT' && this.failingCommits > 0) {
      this.failingCommits--;
      passage = random.pick(FAILURES);
      if (passage === 'lost after') count('COMMIT without an answer');
    } else if (sql.startsWith(POLL_SQL) && this.options.clock.nowMs() < this.noPollsUntilMs) passage = 'lost before';
    else if (isSlow && random.chance(0.001)) passage = random.pick(FAILURES);
    else if (isSlow && random.chance(0.0003)) passage = 'silent';
    if (passage !== 'arrives') {
      this.hasHadTrouble = true;
      this.expectTrouble(passage === 'silent' ? 'silent' : 'lost');
    }
    if (passage === 'silent') count('line to PostgreSQL silent');
    return passage;
  }

  private countStatement(sql: string): void {
    if (!sql.includes('SET leased_by = $2')) return;
    this.options.count('lease taken');
    this.expectTrouble('leased');
  }
}
