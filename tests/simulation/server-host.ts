import { readFileSync, rmSync } from 'node:fs';
import { RockpoolError, type Welcome } from '#shared/index.ts';
import type { Role } from '#sync-server/auth/role.ts';
import { RETENTION, type Retention } from '#sync-server/log/retention.ts';
import type { SessionSocket } from '#sync-server/session/session-socket.ts';
import { writePlainSnapshot } from '#sync-server/snapshot/write-snapshot.ts';
import type { DatabaseFile } from '#sync-server/store/database-file.ts';
import type { OpenDatabase } from '#sync-server/store/durability.ts';
import type { ServerEnd } from './network.ts';
import { PostgresError } from './postgres/postgres-error.ts';
import { PostgresStorage, type Committed } from './postgres/postgres-storage.ts';
import { ServerDisk, type EndOfServer } from './server-disk.ts';
import { BUGS, ENDS_TO_COUNT, isDiskFailure, isFullDisk } from './server-errors.ts';
import type { ServerHostOptions, Trap } from './server-host-options.ts';
import { documentIdOf, ServerProcess } from './server-process.ts';
import { FileStorage, type ServerStorage, type StoreProcess } from './server-storage.ts';
import type { HttpServerEnd } from './simulated-request.ts';
import type { Owner } from './virtual-time.ts';

const SQLITE_FULL = 13;

/** Small, because histories are small: a client that is partitioned or slow exceeds it. */
const MAX_UNREAD_BYTES = 4 * 1024;

/** Tombstones are pruned so soon that even a short absence requires a full resync. */
export const TOMBSTONES_MS = 20_000;

/** Documents of this size or more are merged on another thread: about half of those in the simulation. */
const DOCUMENT_BYTES_AWAY = 600;

const SIMULATED_RETENTION: Retention = { ...RETENTION, tombstonesMs: TOMBSTONES_MS };

/** How long the end of a server that stops is delayed, and how long it stays down, in ms. */
const STOPPING_MS = [0, 5, 200, 2_000, 6_000] as const;
const STOPPED_MS = [0, 0, 50, 1_000, 15_000] as const;

/** How long a sync of the server's disk takes; sometimes the disk is busy. */
const SYNC_MS = [0, 1, 3, 3, 8, 40, 600] as const;

/**
 * The server: its processes, which can die at any statement, COMMIT or frame, and their storage, which is a disk, or a
 * PostgreSQL server that several processes share.
 */
export class ServerHost {
  trap: Trap | null = null;
  /** Collects faults of the server itself, such as an error code that it must never send. */
  readonly failures: string[] = [];
  /** The role of each device. Default: editor. Roles outlast the process. */
  private readonly roles = new Map<string, Role | 'revoked'>();
  private isFull = false;
  /** The number of upcoming statements after which the disk is full. */
  private statementsUntilFull = Infinity;
  /** The number of upcoming disk syncs, or commits to PostgreSQL, that fail. */
  private syncsToFail = 0;
  private isQuotaReached = false;
  // The number of compactions by document id; a compacted document has a new id.
  private readonly compactions = new Map<string, number>();
  private readonly options: ServerHostOptions;
  private readonly storage: ServerStorage;
  private readonly postgres: PostgresStorage | null;
  /** The process of each instance; null while it is down. */
  private readonly processes: (ServerProcess | null)[];
  private readonly dead: OpenDatabase[] = [];
  /** Processes whose server has stopped and whose program keeps running. */
  private readonly stopped = new Set<ServerProcess>();
  private framesBefore = 0;
  private isClosed = false;

  constructor(options: ServerHostOptions) {
    const { time, random, schema, isSlow, instances, count } = options;
    this.options = options;
    const disk = new ServerDisk(random);
    disk.syncMs = () => this.nextSyncMs();
    const clock = {
      nowMs: () => time.nowMs,
      after: (delayMs: number, run: () => void): (() => void) => time.after(delayMs, run),
    };
    this.postgres =
      instances > 1
        ? new PostgresStorage({
            clock,
            random,
            schema,
            disk,
            instances,
            isSlow,
            count,
            onBehind: (follows, watermark) => this.requireFollowed(follows, watermark),
          })
        : null;
    this.storage = this.postgres ?? new FileStorage(disk, schema);
    this.processes = Array.from({ length: this.storage.instances }, () => null);
  }

  /** The last committed state; null while it is unknown. */
  get live(): { readonly file: DatabaseFile } | null {
    const file = this.storage.committed(this.processes[0]?.live?.file ?? null);
    return file === null ? null : { file };
  }

  /** Whether the file has a commit that a power cut could revert. */
  get isSettling(): boolean {
    return this.running.some((process) => process.isSettling);
  }

  get instances(): number {
    return this.storage.instances;
  }

  /** The watermark of the last commit. */
  get watermark(): number {
    return this.live?.file.log.watermark ?? 0;
  }

  private get running(): ServerProcess[] {
    return this.processes.filter((process) => process !== null);
  }

  /** Starts the processes that are down. */
  start(): void {
    this.processes.forEach((process, instance) => {
      if (process === null) this.startProcess(instance);
    });
  }

  private startProcess(instance: number): void {
    let started: ServerProcess | null = null;
    const { options } = this;
    started = new ServerProcess({
      host: options,
      name: this.storage.instances === 1 ? 'server' : `server ${instance + 1}`,
      operated: options.operated,
      retention: SIMULATED_RETENTION,
      maxUnreadBytes: MAX_UNREAD_BYTES,
      documentBytesAway: DOCUMENT_BYTES_AWAY,
      openStore: (process) => {
        started = process;
        return this.storage.openStore(instance, this.storeProcess(process));
      },
      events: {
        reaches: (at) => {
          // On PostgreSQL, a commit point is a COMMIT statement in transit, not the end of a transaction on the file.
          if (this.postgres === null || at === 'statement' || at === 'send') this.spring(at, started);
        },
        requireRoom: () => this.requireRoom(),
        isQuotaReached: () => this.isQuotaReached,
        onFailure: (error) => this.onFailure(error),
        committed: () => this.postgres?.position() ?? null,
        onWelcome: (welcome, before) => this.requireCaughtUp(welcome, before),
        onFollowed: () => options.count('commit of another instance followed'),
        roleOf: (device) => {
          const role = this.roles.get(device) ?? 'editor';
          return role === 'revoked' ? null : role;
        },
        onTransaction: () => {
          this.framesBefore = this.storage.frames;
        },
        onLogLine: (event, fields) => {
          const code = String(fields['code']);
          if (event === 'session-error' || event === 'request-error' || BUGS.has(code))
            this.failures.push(`${event} ${JSON.stringify(fields)}`);
          if (ENDS_TO_COUNT.has(code)) options.onSessionEnd(code);
          if (event === 'token-renewed') options.count('token renewed in a session');
        },
        onCompacted: (before, after) => this.compacted(before, after),
      },
    });
    this.processes[instance] = started;
  }

  /** Requires that every instance with the open database follows each commit, whether it was notified of it or not. */
  private requireFollowed(follows: (file: DatabaseFile) => boolean, watermark: number): void {
    this.options.count('commit followed by every instance');
    for (const { file, owner } of this.running)
      if (file !== null && !follows(file))
        this.failures.push(`${owner.name} has not followed the commit at ${watermark}: it is at ${file.log.watermark}`);
  }

  /**
   * Requires that a session begins with everything that was committed before its hello, whichever instance serves it.
   */
  private requireCaughtUp({ watermark, logEpoch }: Welcome, before: Committed): void {
    const now = this.postgres?.position() ?? null;
    const isOfOneLog =
      now !== null &&
      now.restores === before.restores &&
      [now.logEpoch, logEpoch].every((epoch) => Buffer.compare(epoch, before.logEpoch) === 0);
    if (!isOfOneLog) return;
    this.options.count('welcome of one of several instances');
    if (watermark < before.watermark)
      this.failures.push(`a session began at ${watermark}, where ${before.watermark} was committed before its hello`);
  }

  private storeProcess(process: ServerProcess): StoreProcess {
    return {
      run: (body) => process.run(body),
      onCommit: (when) => this.spring(when === 'sent' ? 'in commit' : 'after commit', process),
      onError: (error) => process.failed(error),
    };
  }

  private onFailure(error: unknown): void {
    if (isDiskFailure(error)) return this.options.onDiskFailed();
    if (isFullDisk(error)) return;
    if (this.isHonestTrouble(error)) return this.options.count('PostgreSQL unavailable');
    this.options.onError(error);
  }

  /**
   * Whether the error reports a lost connection to PostgreSQL, or that a restore has reverted the state that the
   * instance has.
   */
  private isHonestTrouble(error: unknown): boolean {
    if (this.postgres === null) return false;
    if (error instanceof PostgresError) return this.postgres.hasHadTrouble;
    if (!(error instanceof RockpoolError) || error.code !== 'database-unavailable') return false;
    const cause = error.cause instanceof Error ? error.cause.message : '';
    if (cause.includes('cannot follow')) return this.postgres.wasRestored;
    return this.postgres.hasHadTrouble || this.isFull;
  }

  /** How many upcoming syncs of the disk fail, or how many commits to PostgreSQL. */
  failSyncs(count: number): void {
    this.syncsToFail = count;
    if (this.postgres !== null) this.postgres.failingCommits = count;
  }

  /** After this number of further statements that write, the disk is full; some time later it has space again. */
  fillUp(statements: number, forMs: number): void {
    this.statementsUntilFull = statements;
    this.options.time.after(forMs, () => this.makeRoom());
  }

  /**
   * Changes the role of a device. Open sessions apply it at once if an owner changes it here, as in
   * create-sync-server.ts, and within seconds if the command line does.
   */
  setRole(device: string, role: Role | 'revoked', by: 'owner' | 'command line'): void {
    this.roles.set(device, role);
    if (by === 'owner') for (const process of this.running) process.reauthorize();
  }

  /** The tenant of the database reaches its quota, and some time later it is below it again. */
  reachQuota(forMs: number): void {
    this.isQuotaReached = true;
    this.options.count('quota reached');
    this.options.time.after(forMs, () => this.makeRoom());
  }

  makeRoom(): void {
    this.isQuotaReached = false;
    this.isFull = false;
    this.statementsUntilFull = Infinity;
  }

  private requireRoom(): void {
    if (!this.isFull && this.statementsUntilFull-- > 0) return;
    if (!this.isFull) this.options.onDiskFull();
    this.isFull = true;
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: SQLITE_FULL });
  }

  /** Ends one process, or all of them. `how` decides which of their unsynced writes stay. */
  kill(how: EndOfServer = { kind: 'killed' }): void {
    const { running } = this;
    const { random } = this.options;
    const some = running.length > 1 && random.chance(0.7) ? [random.pick(running)] : running;
    for (const process of some) this.killProcess(process, how);
  }

  /**
   * Stops one process, or all of them, and starts the server again. `lateMs`: how long the end is delayed. `exits`:
   * whether the program ends with its server, as rockpool-server does. A program that runs the server as a part of it
   * keeps running, with its connections. Default: at random.
   */
  stop({ lateMs, exits }: { readonly lateMs?: number; readonly exits?: boolean } = {}): void {
    const { running } = this;
    const { random } = this.options;
    const some = running.length > 1 && random.chance(0.7) ? [random.pick(running)] : running;
    for (const process of some)
      void this.stopProcess(process, lateMs ?? random.pick(STOPPING_MS), exits ?? random.chance(0.3));
  }

  private async stopProcess(process: ServerProcess, lateMs: number, exits: boolean): Promise<void> {
    const { random, count, time, onExit } = this.options;
    if (process.isStopping) return;
    count('server stopped');
    const startMs = random.pick(STOPPED_MS);
    await process.stop(lateMs).catch((error: unknown) => process.failed(error));
    if (!process.owner.isAlive) return;
    const instance = this.processes.indexOf(process);
    this.processes[instance] = null;
    this.storage.end(instance, { kind: 'killed' });
    this.stopped.add(process);
    if (exits) this.exit(process, onExit);
    time.after(startMs, () => {
      if (this.processes[instance] === null && !this.isClosed) this.startProcess(instance);
    });
  }

  private exit(process: ServerProcess, onExit: (owner: Owner) => void): void {
    this.stopped.delete(process);
    const open = process.die();
    if (open !== null) this.dead.push(open);
    onExit(process.owner);
  }

  /** An operator takes the database of one process offline for a while. */
  hold(): void {
    const process = this.anyRunning();
    if (process === null || process.isStopping) return;
    this.options.count('database taken offline');
    void process.hold().catch((error: unknown) => process.failed(error));
  }

  /** Another user of the database opens it for a moment, after which it is closed if it is idle. */
  closeIdle(): void {
    const process = this.anyRunning();
    if (process !== null) void this.options.time.as(process.owner, () => process.openDatabase()).catch(() => undefined);
  }

  private killAll(): void {
    for (const process of this.running) this.killProcess(process, { kind: 'killed' });
  }

  private killProcess(process: ServerProcess, how: EndOfServer): void {
    const instance = this.processes.indexOf(process);
    if (instance < 0) return;
    this.trap = null;
    this.processes[instance] = null;
    const open = process.die();
    this.storage.end(instance, how);
    if (open !== null) this.dead.push(open);
    if (this.running.length > 0) this.options.count('crash of one of several instances');
    this.options.onKilled(how.kind, process.owner);
  }

  /** Makes the next edit of every document compact it, because histories are too short for that to happen by itself. */
  compactDocuments(): void {
    const process = this.running.find(({ file }) => file !== null);
    const compact = ({ sql }: DatabaseFile): void => sql.exec('UPDATE rockpool_document SET compact_above = 0');
    if (process === undefined) return;
    if (this.postgres === null) compact(process.file as DatabaseFile);
    // Other processes receive a compaction only by a commit, which may fail like any other commit.
    else process.run(() => void process.commit(compact).catch(() => undefined));
  }

  /**
   * Backs up the file between two commits, but not before `tally` has rows: in a restored file without them, a retried
   * transaction would have no counter to add to.
   */
  backUp(): void {
    if (this.live?.file.sql.get('SELECT 1 FROM tally LIMIT 1') !== undefined) this.storage.backUp();
  }

  /** Makes several instances receive commits only by notices for a while. */
  failPolls(forMs: number): void {
    this.postgres?.failPolls(forMs);
  }

  /**
   * Replaces the stored data with the backup and starts the server. PostgreSQL may also be restored below processes
   * that run, at random or always. False if there is no backup.
   */
  restore(below: 'at random' | 'always' = 'at random'): boolean {
    if (!this.storage.hasBackup) return false;
    const isBelow = this.postgres !== null && (below === 'always' || !this.options.random.chance(0.5));
    if (!isBelow) this.killAll();
    this.storage.restore();
    this.start();
    return true;
  }

  /** The snapshot file of a full resync; null while the server is down. */
  async snapshot(): Promise<Uint8Array<ArrayBuffer> | null> {
    const process = this.anyRunning();
    if (process === null) return null;
    const to = this.storage.snapshotPath;
    try {
      return await this.options.time.as(process.owner, async () => {
        await process.openDatabase();
        rmSync(to, { force: true });
        writePlainSnapshot(process.path, to);
        const bytes = new Uint8Array(readFileSync(to));
        // As in create-sync-server.ts: the snapshot may contain a commit that was still running.
        await (await process.openDatabase()).catchUp();
        return process.owner.isAlive ? bytes : null;
      });
    } catch {
      return null; // The database was given up meanwhile.
    }
  }

  /** Null if PostgreSQL, and every process that is at its last commit, has the same rows. */
  difference(): string | null {
    if (this.postgres === null) return null;
    return this.postgres.difference(this.running.flatMap(({ file }) => file ?? []));
  }

  /** Frees the resources of dead processes. Do not call while their code is on the stack. */
  bury(): void {
    if (this.dead.length === 0) return;
    for (const { file } of this.dead.splice(0)) file.sql.close();
  }

  close(): void {
    this.isClosed = true;
    this.killAll();
    for (const process of [...this.stopped]) this.exit(process, () => undefined);
    this.bury();
    this.storage.remove();
  }

  /** Chooses the process, like a load balancer. Null if none listens. */
  listen(socket: SessionSocket): ServerEnd | null {
    const process = this.anyRunning();
    return process === null ? null : this.options.time.as(process.owner, () => process.listen(socket));
  }

  /** Chooses the process of a session over HTTP. Null if none listens. */
  listenToHttp(): HttpServerEnd | null {
    return this.anyRunning()?.http ?? null;
  }

  private anyRunning(): ServerProcess | null {
    const { running } = this;
    return running.length > 1 ? this.options.random.pick(running) : (running[0] ?? null);
  }

  private nextSyncMs(): number {
    if (this.syncsToFail > 0) {
      this.syncsToFail--;
      return Infinity;
    }
    return this.options.isSlow ? this.options.random.pick(SYNC_MS) : 0;
  }

  private compacted(before: Uint8Array, after: Uint8Array): void {
    // Documents with the same content have the same id.
    this.compactions.set(documentIdOf(after), Math.max(this.timesCompacted(after), this.timesCompacted(before) + 1));
    this.options.onCompacted();
  }

  /** How often a document was compacted before this state. */
  timesCompacted(state: Uint8Array): number {
    return this.compactions.get(documentIdOf(state)) ?? 0;
  }

  /** Ends the process that reaches the trap. */
  private spring(at: Trap['at'], process: ServerProcess | null): void {
    const { trap } = this;
    if (process === null || trap?.at !== at || trap.left-- > 0) return;
    this.killProcess(
      process,
      trap.losesPower === true
        ? { kind: 'power loss' }
        : at === 'in commit'
          ? { kind: 'killed in commit', framesBefore: this.framesBefore }
          : { kind: 'killed' },
    );
  }
}
