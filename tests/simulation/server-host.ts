import { readFileSync, rmSync } from 'node:fs';
import {
  decodeClientMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  RockpoolError,
  type Hello,
  type Push,
  type Schema,
} from '#shared/index.ts';
import { decodeDocumentCell } from '#shared/document/index.ts';
import { Gate } from '#sync-server/auth/gate.ts';
import { DatabaseCache } from '#sync-server/database/database-cache.ts';
import type { LiveDatabase } from '#sync-server/database/live-database.ts';
import { RETENTION, type Retention } from '#sync-server/log/retention.ts';
import type { Logger } from '#sync-server/observe/log-line.ts';
import { ServerMetrics } from '#sync-server/observe/server-metrics.ts';
import { Session, type SessionContext } from '#sync-server/session/session.ts';
import { SESSION_LIMITS } from '#sync-server/session/limits.ts';
import { ConnectionQuota } from '#sync-server/session/connection-quota.ts';
import type { SessionSocket } from '#sync-server/session/session-socket.ts';
import { writePlainSnapshot } from '#sync-server/snapshot/write-snapshot.ts';
import type { DatabaseFile } from '#sync-server/store/database-file.ts';
import type { OpenDatabase } from '#sync-server/store/durability.ts';
import { SqliteStore } from '#sync-server/store/sqlite-store.ts';
import { storeFailure } from '#sync-server/store/store-failure.ts';
import type { Store } from '#sync-server/store/store.ts';
import { DocumentThreads } from './document-threads.ts';
import type { ServerEnd } from './network.ts';
import type { Random } from './random.ts';
import { DATABASE_ID, DISK_FAILURE, ServerDisk, type EndOfServer } from './server-disk.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** Thrown where the server process dies, to unwind code that would not run any further. */
class ServerKilled extends Error {}

/**
 * Where the server dies: before an upcoming statement, within or right after an upcoming COMMIT, or while it hands over
 * an upcoming frame.
 */
export interface Trap {
  readonly at: 'statement' | 'in commit' | 'after commit' | 'send';
  left: number;
  /** The machine loses power, not only the process. */
  readonly losesPower?: boolean;
}

export interface ServerHostOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly schema: Schema;
  /** Disk syncs and document threads take time. False: none. */
  readonly isSlow: boolean;
  readonly onPush: (site: string, push: Push) => void;
  /** A client connected with a snapshot file. */
  readonly onFile: () => void;
  /** A client connected whose cursor is below the tombstone horizon. */
  readonly onReload: () => void;
  /** A document was compacted. */
  readonly onCompacted: () => void;
  /** A late edit of a compacted document arrived. */
  readonly onCarriedOver: () => void;
  /** The server process ended, with all its connections. */
  readonly onKilled: (how: EndOfServer['kind']) => void;
  /** A disk sync failed, and the server gave up the database. */
  readonly onDiskFailed: () => void;
  /** The disk has run out of room. */
  readonly onDiskFull: () => void;
  /** A document was worked on in another thread. */
  readonly onDocumentThread: () => void;
  readonly onError: (error: unknown) => void;
}

const SQLITE_FULL = 13;

const SWEEP_INTERVAL_MS = 5_000;

/** Tombstones are pruned so soon that a short absence requires a full resync. */
export const TOMBSTONES_MS = 20_000;

/** Pages are small here; about half of them go to another thread. */
const DOCUMENT_BYTES_AWAY = 600;

const SIMULATED_RETENTION: Retention = { ...RETENTION, tombstonesMs: TOMBSTONES_MS };

/** How long a sync of the server's disk takes; now and then the disk is busy. */
const SYNC_MS = [0, 1, 3, 3, 8, 40, 600] as const;

/**
 * The server's machine: its disk, and its process, which can die at any statement, COMMIT or frame. The process runs
 * the same code as `rockpool-server`.
 */
export class ServerHost {
  owner: Owner = { name: 'server', isAlive: false, wallMs: () => this.options.time.nowMs };
  trap: Trap | null = null;
  /** The number of upcoming disk syncs that fail. */
  failingSyncs = 0;
  private isFull = false;
  /** The number of upcoming statements after which the disk is full. */
  private statementsUntilFull = Infinity;
  /** Collects faults of the server itself, such as an error code that it must never send. */
  readonly failures: string[] = [];
  // By document id; a compacted document has a new one.
  private readonly compactions = new Map<string, number>();
  private readonly options: ServerHostOptions;
  private readonly disk: ServerDisk;
  private cache: DatabaseCache | null = null;
  private opened: LiveDatabase | null = null;
  private open: OpenDatabase | null = null;
  private readonly dead: OpenDatabase[] = [];
  private sessions = new Set<Session>();

  constructor(options: ServerHostOptions) {
    this.options = options;
    this.disk = new ServerDisk(options.random);
    this.disk.syncMs = () => this.nextSyncMs();
  }

  /** Null while the process is down, and while it opens the database. */
  get live(): LiveDatabase | null {
    return this.opened;
  }

  /** Whether the file has a commit that a power cut could revert. */
  get isSettling(): boolean {
    return this.open !== null && this.open.settling() !== null;
  }

  start(): void {
    if (this.cache !== null) return;
    const { time, onError, onDiskFailed } = this.options;
    this.owner = { name: 'server', isAlive: true, wallMs: () => time.nowMs };
    const { owner } = this;
    time.as(owner, () => {
      const onFailure = (_: string, error: unknown): void => {
        if (!owner.isAlive || error instanceof ServerKilled) return;
        if (isDiskFailure(error)) onDiskFailed();
        else if (isFullDisk(error)) return;
        else onError(error);
      };
      const cache = new DatabaseCache({
        store: this.store(owner),
        retention: SIMULATED_RETENTION,
        offersSnapshot: () => true,
        onFailure,
      });
      this.cache = cache;
      void this.openDatabase(cache).catch((error: unknown) => onFailure(DATABASE_ID, error));
      setInterval(() => {
        for (const session of [...this.sessions]) session.checkDeadlines(time.nowMs);
      }, SWEEP_INTERVAL_MS);
    });
  }

  /** The disk is full after this many more statements that write, and has room again some time later. */
  fillUp(statements: number, forMs: number): void {
    this.statementsUntilFull = statements;
    this.options.time.after(forMs, () => this.makeRoom());
  }

  makeRoom(): void {
    this.isFull = false;
    this.statementsUntilFull = Infinity;
  }

  private requireRoom(): void {
    if (!this.isFull && this.statementsUntilFull-- > 0) return;
    if (!this.isFull) this.options.onDiskFull();
    this.isFull = true;
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: SQLITE_FULL });
  }

  /** Keeps the file as far as `end` says; everything else is lost. */
  kill(how: EndOfServer = { kind: 'killed' }): void {
    if (this.cache === null) return;
    this.trap = null;
    this.cache = null;
    this.opened = null;
    this.owner.isAlive = false;
    this.sessions = new Set();
    this.disk.end(how);
    if (this.open !== null) this.dead.push(this.open);
    this.open = null;
    this.options.onKilled(how.kind);
  }

  /** Makes the next edit of every document compact it. Histories are too short for that to happen by itself. */
  compactDocuments(): void {
    this.opened?.file.sql.exec('UPDATE rockpool_document SET compact_above = 0');
  }

  /**
   * Copies the file between two commits, once it has the counters: without them a retried transaction would count
   * nothing.
   */
  backUp(): void {
    if (this.opened?.file.sql.get('SELECT 1 FROM tally LIMIT 1') !== undefined) this.disk.backUp();
  }

  /** Replaces the file with the backup and starts the server. False: there is no backup. */
  restore(): boolean {
    if (!this.disk.hasBackup) return false;
    this.kill();
    this.disk.restore();
    this.start();
    return true;
  }

  /** The snapshot file of a full resync; null while the server is down. */
  async snapshot(): Promise<Uint8Array<ArrayBuffer> | null> {
    const { cache, owner, disk } = this;
    if (cache === null) return null;
    const to = disk.snapshotPath;
    try {
      return await this.options.time.as(owner, async () => {
        await this.openDatabase(cache);
        rmSync(to, { force: true });
        writePlainSnapshot(disk.path, to);
        const bytes = new Uint8Array(readFileSync(to));
        // As in create-sync-server.ts: it may have a commit in it that was under way.
        await (await this.openDatabase(cache)).catchUp();
        return owner.isAlive ? bytes : null;
      });
    } catch {
      return null; // The database was given up meanwhile.
    }
  }

  /** Frees the resources of dead processes. Do not call while their code is on the stack. */
  bury(): void {
    for (const { file } of this.dead.splice(0)) file.sql.close();
  }

  close(): void {
    this.kill();
    this.bury();
    this.disk.remove();
  }

  listen(socket: SessionSocket): ServerEnd | null {
    const { cache, owner } = this;
    if (cache === null) return null;
    const { time } = this.options;
    const now = (): number => time.nowMs;
    const log: Logger = (event, fields) => {
      if (owner.isAlive && (event === 'session-error' || BUGS.has(String(fields['code']))))
        this.failures.push(`${event} ${JSON.stringify(fields)}`);
    };
    const context: SessionContext = {
      schemas: new Map([[this.options.schema.hash, null]]),
      schemaOutline: '',
      address: null,
      readableRows: () => 'everything',
      gate: new Gate({
        authenticate: async (token) => ({ id: token, expiresAtMs: Infinity }),
        authorize: () => true,
        now,
        log,
      }),
      openDatabase: () => this.openDatabase(cache),
      onDamaged: (databaseId, error) => cache.takeOffline(databaseId, error),
      now,
      log,
      limits: SESSION_LIMITS,
      connectionQuota: new ConnectionQuota(Infinity),
      metrics: new ServerMetrics(),
      onAuthenticated: () => undefined,
      onClosed: (closed) => void this.sessions.delete(closed),
    };
    const session = new Session(this.watched(socket, owner), context);
    this.sessions.add(session);
    const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
    return {
      receive: (frame) => {
        if (!owner.isAlive) return;
        const bytes = assembler.add(frame);
        const message = bytes === null ? null : decodeClientMessage(bytes);
        if (message?.type === 'hello' && this.opened !== null && isBehindHorizon(message, this.opened))
          this.options.onReload();
        if (message?.type === 'hello' && typeof message.snapshot === 'object') this.options.onFile();
        this.dying(() => session.receive(frame));
        if (message?.type === 'push') this.options.onPush(session.site, message);
      },
      disconnected: () => owner.isAlive && this.dying(() => session.disconnected()),
    };
  }

  private watched(socket: SessionSocket, owner: Owner): SessionSocket {
    return {
      ...socket,
      send: (frame) => {
        if (!owner.isAlive) return;
        socket.send(frame);
        // Throws nothing, because no caller may catch it. What a dead server does next has no effect.
        if (this.springs('send')) this.endAt('send');
      },
    };
  }

  /** The shipped store, on the simulated disk, with traps in it. */
  private store(owner: Owner): Store {
    const store = new SqliteStore(this.disk.dataDir, this.options.schema, { openLogSync: this.disk.openLogSync });
    return {
      open: (databaseId, { onLost }) => {
        const open = store.open(databaseId, {
          onLost: (error) => {
            // The file is closed by whoever is told.
            if (this.open === open) [this.open, this.opened] = [null, null];
            onLost(error);
          },
        });
        this.open = open;
        this.setTraps(open.file, owner);
        this.watchDocuments(open.file);
        const { random, isSlow, onDocumentThread } = this.options;
        if (isSlow) open.file.documents.use(new DocumentThreads(random, onDocumentThread), DOCUMENT_BYTES_AWAY);
        return open;
      },
      pathOf: (databaseId) => store.pathOf(databaseId),
      markDamaged: (databaseId, problem) => store.markDamaged(databaseId, problem),
      readiness: () => store.readiness(),
      close: () => store.close(),
    };
  }

  private async openDatabase(cache: DatabaseCache): Promise<LiveDatabase> {
    const live = await cache.get(DATABASE_ID);
    if (this.cache === cache && live.file === this.open?.file) this.opened = live;
    return live;
  }

  private nextSyncMs(): number {
    if (this.failingSyncs > 0) {
      this.failingSyncs--;
      return Infinity;
    }
    return this.options.isSlow ? this.options.random.pick(SYNC_MS) : 0;
  }

  private setTraps({ sql }: DatabaseFile, owner: Owner): void {
    const [run, transaction] = [sql.run.bind(sql), sql.transaction.bind(sql)];
    sql.run = (...args) => {
      if (!owner.isAlive) throw new ServerKilled();
      this.spring('statement');
      this.requireRoom();
      run(...args);
    };
    sql.transaction = (body) => {
      if (!owner.isAlive) throw new ServerKilled();
      const framesBefore = this.disk.frames;
      const result = transaction(() => {
        const done = body();
        this.requireRoom();
        return done;
      });
      this.spring('in commit', framesBefore);
      this.spring('after commit');
      return result;
    };
  }

  private watchDocuments({ documents }: DatabaseFile): void {
    const work = documents.work.bind(documents);
    documents.work = (asked) => {
      const worked = work(asked);
      if (asked.kind === 'merge' && asked.replaced !== null) this.options.onCarriedOver();
      else if (asked.kind === 'merge' && worked.replaced !== null) this.compacted(asked.document, worked.state);
      return worked;
    };
  }

  private compacted(before: Uint8Array, after: Uint8Array): void {
    // Documents of the same content have the same id.
    this.compactions.set(idOf(after), Math.max(this.timesCompacted(after), this.timesCompacted(before) + 1));
    this.options.onCompacted();
  }

  /** How often a document was compacted before this state. */
  timesCompacted(state: Uint8Array): number {
    return this.compactions.get(idOf(state)) ?? 0;
  }

  private spring(at: Trap['at'], framesBefore: number = 0): void {
    if (!this.springs(at)) return;
    this.endAt(at, framesBefore);
    throw new ServerKilled();
  }

  private springs(at: Trap['at']): boolean {
    return this.trap?.at === at && this.trap.left-- <= 0;
  }

  private endAt(at: Trap['at'], framesBefore: number = 0): void {
    this.kill(
      this.trap?.losesPower === true
        ? { kind: 'power loss' }
        : at === 'in commit'
          ? { kind: 'killed in commit', framesBefore }
          : { kind: 'killed' },
    );
  }

  private dying(run: () => void): void {
    try {
      run();
    } catch (thrown) {
      if (!(thrown instanceof ServerKilled)) throw thrown;
    }
  }
}

function idOf(state: Uint8Array): string {
  const cell = decodeDocumentCell(state);
  return cell.kind === 'state' ? Buffer.from(cell.documentId).toString('hex') : '';
}

/** The errors of `durableOnceSynced` for a failed sync, and for a database that was given up after one. */
function isDiskFailure(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.message === DISK_FAILURE ||
      (error instanceof RockpoolError && error.code === 'database-unavailable' && isDiskFailure(error.cause)))
  );
}

function isFullDisk(error: unknown): boolean {
  return storeFailure(error).code === 'server-disk-full';
}

function isBehindHorizon({ logEpoch, cursor }: Hello, { file }: LiveDatabase): boolean {
  return (
    logEpoch !== null &&
    Buffer.compare(logEpoch, file.logEpoch.id) === 0 &&
    cursor > 0 &&
    cursor < file.tombstones.tombstoneHorizon
  );
}

/** Error codes of a faulty server or client. Honest clients never get them. */
const BUGS: ReadonlySet<string> = new Set([
  'changeset-chain-broken',
  'changeset-invalid',
  'frame-invalid',
  'frame-unexpected',
  'frame-too-large',
  'internal',
]);
