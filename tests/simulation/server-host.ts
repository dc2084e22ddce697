import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeClientMessage, FrameAssembler, MAX_MESSAGE_BYTES, type Hello, type Push, type Schema } from '../../packages/shared/src/index.ts';
import { decodeDocumentCell } from '../../packages/shared/src/document/index.ts';
import { Gate } from '../../packages/sync-server/src/auth/gate.ts';
import { LiveDatabase } from '../../packages/sync-server/src/fanout/live-database.ts';
import { RETENTION, type Retention } from '../../packages/sync-server/src/log/retention.ts';
import type { Log } from '../../packages/sync-server/src/observe/log-line.ts';
import { ServerMetrics } from '../../packages/sync-server/src/observe/server-metrics.ts';
import { Session, type SessionContext } from '../../packages/sync-server/src/session/session.ts';
import { SESSION_LIMITS } from '../../packages/sync-server/src/session/limits.ts';
import { Places } from '../../packages/sync-server/src/session/places.ts';
import type { SessionSocket } from '../../packages/sync-server/src/session/session-socket.ts';
import { writePlainSnapshot } from '../../packages/sync-server/src/snapshot/write-snapshot.ts';
import { openDatabaseFile } from '../../packages/sync-server/src/store/database-file.ts';
import type { ServerEnd } from './network.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** Thrown where the process of the server ends, to unwind what would run no more. */
class ServerKilled extends Error {}

/** Where the server dies: before its next statements but one, or with its next frames but one handed over. */
export interface Trap {
  readonly at: 'statement' | 'send';
  left: number;
}

export interface ServerHostOptions {
  readonly time: VirtualTime;
  readonly schema: Schema;
  readonly onPush: (site: string, push: Push) => void;
  /** Somebody came with a file of the whole state. */
  readonly onFile: () => void;
  /** Somebody came whose cursor is below what deletes are kept for. */
  readonly onReload: () => void;
  /** A document has been replaced by one without its history. */
  readonly onCompacted: () => void;
  /** A late edit of a document that was compacted has come. */
  readonly onCarriedOver: () => void;
  /** The process of the server has ended: every connection with it. */
  readonly onKilled: () => void;
  readonly onError: (error: unknown) => void;
}

export const DATABASE_ID = 'budget';

const SWEEP_INTERVAL_MS = 5_000;

/** Deletes are forgotten so soon that whoever was away for a little has to reload. */
export const TOMBSTONES_MS = 20_000;

const SIMULATED_RETENTION: Retention = { ...RETENTION, tombstonesMs: TOMBSTONES_MS };

/** The machine of the server: its file, and its process, which can die at any statement and at any frame. */
export class ServerHost {
  owner: Owner = { name: 'server', isAlive: false, wallMs: () => this.options.time.nowMs };
  trap: Trap | null = null;
  /** Lets the host say what the server does wrong by itself, such as a code that it should never send. */
  readonly failures: string[] = [];
  // By the id of the document: a compacted one has another.
  private readonly compactions = new Map<string, number>();
  private readonly options: ServerHostOptions;
  private readonly folder = newFolder();
  private running: LiveDatabase | null = null;
  private readonly dead: LiveDatabase[] = [];
  private sessions = new Set<Session>();
  private fileNumber = 0;
  private hasBackup = false;

  constructor(options: ServerHostOptions) {
    this.options = options;
  }

  get live(): LiveDatabase | null {
    return this.running;
  }

  private get path(): string {
    return join(this.folder, `server-${this.fileNumber}.sqlite`);
  }

  private get backupPath(): string {
    return join(this.folder, 'backup.sqlite');
  }

  start(): void {
    if (this.running !== null) return;
    const { time, schema, onError } = this.options;
    this.owner = { name: 'server', isAlive: true, wallMs: () => time.nowMs };
    const { owner } = this;
    time.as(owner, () => {
      const live = new LiveDatabase(openDatabaseFile(this.path, schema), { onFailure: (error) => owner.isAlive && onError(error), retention: SIMULATED_RETENTION, offersSnapshot: () => true });
      this.setTraps(live, owner);
      this.watchDocuments(live);
      this.running = live;
      setInterval(() => {
        for (const session of [...this.sessions]) session.checkDeadlines(time.nowMs);
      }, SWEEP_INTERVAL_MS);
    });
  }

  /** SIGKILL: what is in the file stays, as the file is at this moment; all else is gone. */
  kill(): void {
    const { running } = this;
    if (running === null) return;
    this.trap = null;
    this.running = null;
    this.owner.isAlive = false;
    this.sessions = new Set();
    const from = this.path;
    this.fileNumber++;
    for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, this.path + suffix);
    this.dead.push(running);
    this.options.onKilled();
  }

  /** Every document there is has grown enough: the next edit of it has it compacted. Histories are too short for that to come by itself. */
  compactDocuments(): void {
    this.running?.file.sql.exec('UPDATE rockpool_document SET compact_above = 0');
  }

  /** Copies the file as it is between two commits; not before the counters are in it, without which a retried transaction counts nothing. */
  backUp(): void {
    if (this.running?.file.sql.get('SELECT 1 FROM tally LIMIT 1') === undefined) return;
    for (const suffix of ['', '-wal']) {
      rmSync(this.backupPath + suffix, { force: true });
      if (existsSync(this.path + suffix)) copyFileSync(this.path + suffix, this.backupPath + suffix);
    }
    this.hasBackup = true;
  }

  /** Somebody puts the backup in the place of the file and starts the server. False: there is none. */
  restore(): boolean {
    if (!this.hasBackup) return false;
    this.kill();
    for (const suffix of ['', '-wal']) {
      rmSync(this.path + suffix, { force: true });
      if (existsSync(this.backupPath + suffix)) copyFileSync(this.backupPath + suffix, this.path + suffix);
    }
    this.start();
    return true;
  }

  /** The file that somebody who needs everything gets now; null while the server is down. */
  snapshot(): Uint8Array<ArrayBuffer> | null {
    if (this.running === null) return null;
    const to = join(this.folder, 'snapshot.sqlite');
    rmSync(to, { force: true });
    writePlainSnapshot(this.path, to);
    return new Uint8Array(readFileSync(to));
  }

  /** Frees what dead processes had open. Not while any of their code is on the stack. */
  bury(): void {
    for (const live of this.dead.splice(0)) live.file.sql.close();
  }

  close(): void {
    this.kill();
    this.bury();
    rmSync(this.folder, { recursive: true, force: true });
  }

  listen(socket: SessionSocket): ServerEnd | null {
    const { running: live, owner } = this;
    if (live === null) return null;
    const { time } = this.options;
    const now = (): number => time.nowMs;
    const log: Log = (event, fields) => {
      if (owner.isAlive && (event === 'session-error' || BUGS.has(String(fields['code'])))) this.failures.push(`${event} ${JSON.stringify(fields)}`);
    };
    const context: SessionContext = {
      schemas: new Map([[this.options.schema.hash, null]]),
      gate: new Gate({ authenticate: async (token) => ({ id: token, expiresAtMs: Infinity }), authorize: () => true, now, log }),
      openDatabase: () => live,
      onDamaged: (_, error) => {
        throw error;
      },
      now,
      log,
      limits: SESSION_LIMITS,
      places: new Places(Infinity),
      metrics: new ServerMetrics(),
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
        if (message?.type === 'hello' && isBelowFloor(message, live)) this.options.onReload();
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
        this.spring('send');
      },
    };
  }

  private setTraps({ file: { sql } }: LiveDatabase, owner: Owner): void {
    const run = sql.run.bind(sql);
    sql.run = (...args) => {
      if (!owner.isAlive) throw new ServerKilled();
      this.spring('statement');
      run(...args);
    };
  }

  private watchDocuments({ file: { documents } }: LiveDatabase): void {
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

  /** How often a document has been compacted on its way to this state. */
  timesCompacted(state: Uint8Array): number {
    return this.compactions.get(idOf(state)) ?? 0;
  }

  private spring(at: Trap['at']): void {
    if (this.trap?.at !== at || this.trap.left-- > 0) return;
    this.kill();
    throw new ServerKilled();
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

function isBelowFloor({ epoch, cursor }: Hello, { file }: LiveDatabase): boolean {
  return epoch !== null && Buffer.compare(epoch, file.epoch.id) === 0 && cursor > 0 && cursor < file.tombstones.floor;
}

/** What the server says when it or a client has a fault: honest clients never hear it. */
const BUGS: ReadonlySet<string> = new Set(['changeset-chain-broken', 'changeset-invalid', 'frame-invalid', 'frame-unexpected', 'frame-too-large', 'internal']);

/** In memory if the system offers that, since each commit of the server waits for its disk. */
function newFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return mkdtempSync('/dev/shm/rockpool-simulation-');
  } catch {
    return mkdtempSync(join(tmpdir(), 'rockpool-simulation-'));
  }
}
