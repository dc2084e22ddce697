import {
  decodeClientMessage,
  decodeServerMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  RockpoolError,
  type Hello,
} from '#shared/index.ts';
import { decodeDocumentCell } from '#shared/document/index.ts';
import { QUOTAS } from '#sync-server/admission/quotas.ts';
import type { Bus } from '#sync-server/bus/bus.ts';
import { DatabaseCache } from '#sync-server/database/database-cache.ts';
import type { LiveDatabase } from '#sync-server/database/live-database.ts';
import type { Retention } from '#sync-server/log/retention.ts';
import { Sockets } from '#sync-server/session/accept-sockets.ts';
import { Session } from '#sync-server/session/session.ts';
import type { SessionSocket } from '#sync-server/session/session-socket.ts';
import type { DatabaseFile } from '#sync-server/store/database-file.ts';
import { closeInOrder } from '#sync-server/store/close-in-order.ts';
import type { OpenDatabase } from '#sync-server/store/durability.ts';
import { KnownSchemas } from '#sync-server/store/known-schemas.ts';
import type { Store } from '#sync-server/store/store.ts';
import { DocumentThreads } from './document-threads.ts';
import type { ServerEnd } from './network.ts';
import type { Committed } from './postgres/postgres-storage.ts';
import { DATABASE_ID } from './server-disk.ts';
import type { ProcessEvents } from './process-events.ts';
import type { ServerHostOptions } from './server-host-options.ts';
import { olderSchema } from './household-schema.ts';
import type { OpenedStore } from './server-storage.ts';
import { httpSessions, sessionContext, type ContextOfAll } from './session-context.ts';
import type { HttpServerEnd } from './simulated-request.ts';
import type { Operated } from './variant.ts';
import type { Owner } from './virtual-time.ts';

/** Thrown where the server process dies, to unwind code that would not run any further. */
export class ServerKilled extends Error {}

export interface ServerProcessOptions {
  readonly host: ServerHostOptions;
  readonly events: ProcessEvents;
  readonly retention: Retention;
  readonly maxUnreadBytes: number;
  readonly documentBytesAway: number;
  readonly openStore: (process: ServerProcess) => OpenedStore;
  readonly name: string;
  /** Null if the process only dies, and serves only WebSockets. */
  readonly operated: Operated | null;
}

const SWEEP_INTERVAL_MS = 5_000;

/** The quota of a tenant, and how far it is exceeded once it counts as reached. */
const TENANT_BYTES = 1;

/** How long a database that an operator has closed stays offline, in ms. */
const OFFLINE_MS = [0, 0, 200, 3_000, 20_000] as const;

/** How long a decision may hold the thread: longer than any decision that a store repeats under its lock. */
const LONG_DECISIONS_MS = [150, 400, 3_000] as const;

/** One process of the server: its cache and its sessions, which die with it. Runs the code of `rockpool-server`. */
export class ServerProcess {
  readonly owner: Owner;
  private readonly options: ServerProcessOptions;
  private readonly cache: DatabaseCache;
  private readonly store: Store;
  private readonly bus: Bus | null;
  /** The part that begins sessions and ends them when the server stops. Null: each connection is a session. */
  private readonly sockets: Sockets | null;
  /** The end of its HTTP connections; null if it has none. */
  readonly http: HttpServerEnd | null;
  isStopping = false;
  private readonly sessions = new Set<Session>();
  private opened: LiveDatabase | null = null;
  private open: OpenDatabase | null = null;
  /** The errors of operators who have taken the database offline, perhaps two at a time, also after it is back. */
  private readonly offline = new Set<unknown>();

  constructor(options: ServerProcessOptions) {
    this.options = options;
    const { time } = options.host;
    this.owner = { name: options.name, isAlive: true, wallMs: () => time.nowMs };
    [this.store, this.bus, this.cache] = time.as(this.owner, () => {
      const { store, bus } = options.openStore(this);
      return [store, bus, this.openCache(this.watchedStore(store), bus)];
    });
    this.sockets = options.operated === null ? null : time.as(this.owner, () => this.openSockets());
    this.http = this.sockets === null ? null : this.openHttp(this.sockets);
    if (this.sockets === null)
      time.as(this.owner, () =>
        setInterval(() => {
          for (const session of [...this.sessions]) session.checkDeadlines(time.nowMs);
        }, SWEEP_INTERVAL_MS),
      );
    time.as(this.owner, () => void this.openDatabase().catch((error: unknown) => this.failed(error)));
  }

  private openCache(store: Store, bus: Bus | null): DatabaseCache {
    const { operated, retention, events } = this.options;
    return new DatabaseCache({
      store,
      retention,
      schemas: new KnownSchemas([olderSchema]),
      offersSnapshot: () => true,
      onFailure: (_, error) => this.failed(error),
      ...(operated !== null && {
        bus,
        // Histories have one database, so it is closed whenever it is idle.
        maxIdleDatabases: 0,
        quotas: { ...QUOTAS, maxTenantBytes: TENANT_BYTES },
        roomOf: () => ({
          tenantBytes: () => (events.isQuotaReached() ? TENANT_BYTES : 0),
          isDiskFull: () => false,
          takeReserve: () => true,
        }),
      }),
    });
  }

  private openSockets(): Sockets {
    return new Sockets({ origins: [], addressOf: () => null, context: this.sessionContext() });
  }

  /** Null while it opens the database. */
  get live(): LiveDatabase | null {
    return this.opened;
  }

  /** The file of the database, as soon as it is open. */
  get file(): DatabaseFile | null {
    return this.open?.file ?? null;
  }

  get path(): string {
    return this.store.pathOf(DATABASE_ID);
  }

  /** Whether the file has a commit that a power cut could revert. */
  get isSettling(): boolean {
    return this.open !== null && this.open.settling() !== null;
  }

  async openDatabase(): Promise<LiveDatabase> {
    const live = await this.cache.get(DATABASE_ID);
    if (this.owner.isAlive && live.file === this.open?.file) this.opened = live;
    return live;
  }

  /** Commits without a session. */
  async commit(body: (file: DatabaseFile) => void): Promise<void> {
    const { open } = this;
    if (open !== null) await open.commit(() => body(open.file));
  }

  failed(error: unknown): void {
    // An operator may take the database offline while this process opens it.
    if (this.offline.has(error)) return;
    if (this.owner.isAlive && !(error instanceof ServerKilled)) this.options.events.onFailure(error);
  }

  reauthorize(): void {
    if (this.sockets !== null) return this.run(() => this.sockets?.reauthorize(DATABASE_ID));
    for (const session of [...this.sessions]) this.run(() => session.reauthorizeNow());
  }

  /** Runs code as code of this process. Does nothing if the process is dead. */
  run(body: () => void): void {
    if (!this.owner.isAlive) return;
    this.options.host.time.as(this.owner, () => {
      try {
        body();
      } catch (thrown) {
        if (!(thrown instanceof ServerKilled)) throw thrown;
      }
    });
  }

  /** Returns the objects to close once its code is off the stack. */
  die(): OpenDatabase | null {
    this.owner.isAlive = false;
    this.sessions.clear();
    this.opened = null;
    const { open } = this;
    this.open = null;
    return open;
  }

  /** Null if it is stopping, so that it accepts no more sockets. */
  listen(socket: SessionSocket): ServerEnd | null {
    if (this.isStopping) return null;
    const session = this.begin(socket, this.sockets);
    return {
      owner: this.owner,
      receive: (frame) => session.receive(frame),
      disconnected: () => this.run(() => session.disconnected()),
    };
  }

  /**
   * Stops like `SyncServer.close` while the program that runs the server keeps running. `lateMs`: how long a client
   * that does not answer the closing handshake, or the job of an operator, delays the end.
   */
  async stop(lateMs: number): Promise<void> {
    const { cache, store, bus, sockets } = this;
    this.isStopping = true;
    const late = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, lateMs));
    await this.options.host.time.as(this.owner, () =>
      closeInOrder(
        () => Promise.all([sockets?.close(), late()]),
        () => cache.closeAll(),
        () => store.close(),
        () => bus?.close(),
      ),
    );
  }

  /** Takes the database offline and lets clients in again some time later, as an operator does. */
  async hold(): Promise<void> {
    const { time, random } = this.options.host;
    const error = new RockpoolError('database-unavailable', { problem: 'the operator closed the database' });
    this.offline.add(error);
    const offlineMs = random.pick(OFFLINE_MS);
    await time.as(this.owner, async () => {
      await this.cache.hold(DATABASE_ID, error);
      setTimeout(() => this.cache.release(DATABASE_ID, error), offlineMs);
    });
  }

  private openHttp(sockets: Sockets): HttpServerEnd {
    const { owner, options } = this;
    const fetch = httpSessions(this.sessionContext(), (socket) => this.begin(socket, sockets));
    return { owner, answer: (request) => options.host.time.as(owner, async () => fetch(request)) };
  }

  private sessionContext(): ContextOfAll {
    const { host, events, maxUnreadBytes, operated } = this.options;
    return sessionContext({
      random: host.random,
      maxUnreadBytes,
      isGateSlow: operated?.isGateSlow ?? false,
      now: () => host.time.nowMs,
      log: (event, fields) => {
        if (this.owner.isAlive) events.onLogLine(event, fields);
      },
      roleOf: (device) => events.roleOf(device),
      openDatabase: () => this.openDatabase(),
      onDamaged: (databaseId, error) => this.cache.takeOffline(databaseId, error),
    });
  }

  /** Begins a session, whose messages the simulation sees as well. */
  private begin(socket: SessionSocket, sockets: Sockets | null): Session {
    const { host, events } = this.options;
    let before: Committed | null = null;
    const watched = this.watched(socket, (frame) => {
      if (before === null) return;
      const message = decodeServerMessage(new FrameAssembler(MAX_MESSAGE_BYTES).add(frame) as Uint8Array);
      if (message.type === 'welcome') events.onWelcome(message, before);
      before = null;
    });
    const session = sockets?.begin(watched, null) ?? this.beginAlone(watched);
    const receive = session.receive.bind(session);
    const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
    session.receive = (frame) => {
      if (!this.owner.isAlive) return;
      const bytes = assembler.add(frame);
      const message = bytes === null ? null : decodeClientMessage(bytes);
      if (message?.type === 'hello' && this.opened !== null && isBehindHorizon(message, this.opened)) host.onReload();
      if (message?.type === 'hello') before = events.committed();
      if (message?.type === 'hello' && typeof message.snapshot === 'object') host.onFile();
      this.run(() => receive(frame));
      if (message?.type === 'push') host.onPush(session.site, message);
    };
    return session;
  }

  private beginAlone(socket: SessionSocket): Session {
    const context = {
      ...this.sessionContext(),
      onAuthenticated: () => undefined,
      onClosed: (closed: Session) => void this.sessions.delete(closed),
    };
    const session = new Session(socket, context, null);
    this.sessions.add(session);
    return session;
  }

  private watched(socket: SessionSocket, onSent: (frame: Uint8Array) => void): SessionSocket {
    return {
      ...socket,
      send: (frame) => {
        if (!this.owner.isAlive) return;
        socket.send(frame);
        onSent(frame);
        // Throws no ServerKilled, because possibly no caller catches it. What a dead server does next has no effect.
        this.options.events.reaches('send');
      },
    };
  }

  /** The shipped store, with traps in it. */
  private watchedStore(store: Store): Store {
    return {
      open: (databaseId, { onCaughtUp, onLost }) => {
        let open: OpenDatabase | null = null;
        const opened = store.open(databaseId, {
          onCaughtUp: (from) => {
            if (this.owner.isAlive) this.options.events.onFollowed();
            onCaughtUp(from);
          },
          onLost: (error) => {
            // The server closes the file in `onLost`.
            if (this.open === open) [this.open, this.opened] = [null, null];
            onLost(error);
          },
        });
        const watch = (database: OpenDatabase): OpenDatabase => {
          open = database;
          if (!this.owner.isAlive) return database;
          this.open = database;
          if (this.sockets !== null) this.watchClosing(database);
          this.setTraps(database.file);
          this.watchDocuments(database.file);
          const { random, isSlow, onDocumentThread } = this.options.host;
          if (isSlow)
            database.file.documents.use(new DocumentThreads(random, onDocumentThread), this.options.documentBytesAway);
          return database;
        };
        return opened instanceof Promise ? opened.then(watch) : watch(opened);
      },
      pathOf: (databaseId) => store.pathOf(databaseId),
      list: () => store.list(),
      outline: (databaseId) => store.outline(databaseId),
      markDamaged: (databaseId, problem) => store.markDamaged(databaseId, problem),
      readiness: () => store.readiness(),
      close: () => store.close(),
    };
  }

  /** The server closes the database while the process keeps running. */
  private watchClosing(database: OpenDatabase): void {
    const close = database.close.bind(database);
    database.close = () => {
      // A dead process closes nothing: `die` has returned the database.
      if (!this.owner.isAlive) return;
      if (this.open === database) [this.open, this.opened] = [null, null];
      this.options.host.count('database closed');
      close();
    };
  }

  private setTraps({ sql }: DatabaseFile): void {
    const { owner } = this;
    const { events, host } = this.options;
    const reach = (at: 'statement' | 'in commit' | 'after commit'): void => {
      events.reaches(at);
      if (!owner.isAlive) throw new ServerKilled();
    };
    const [run, transaction, rehearse] = [sql.run.bind(sql), sql.transaction.bind(sql), sql.rehearse.bind(sql)];
    sql.run = (...args) => {
      if (!owner.isAlive) throw new ServerKilled();
      reach('statement');
      events.requireRoom();
      run(...args);
    };
    sql.transaction = (body) => {
      if (!owner.isAlive) throw new ServerKilled();
      events.onTransaction();
      const result = transaction(() => {
        const done = body();
        events.requireRoom();
        return done;
      });
      reach('in commit');
      reach('after commit');
      return result;
    };
    sql.rehearse = (body) => {
      if (!owner.isAlive) throw new ServerKilled();
      // Adds the time of a long decision, because virtual time stands still while code runs.
      if (host.isSlow && host.random.chance(0.03))
        owner.spentMs = (owner.spentMs ?? 0) + host.random.pick(LONG_DECISIONS_MS);
      return rehearse(body);
    };
  }

  private watchDocuments({ documents }: DatabaseFile): void {
    const { host, events } = this.options;
    const work = documents.work.bind(documents);
    documents.work = (asked) => {
      const worked = work(asked);
      if (asked.kind === 'merge' && asked.replaced !== null) host.onCarriedOver();
      else if (asked.kind === 'merge' && worked.replaced !== null) events.onCompacted(asked.document, worked.state);
      return worked;
    };
  }
}

export function documentIdOf(state: Uint8Array): string {
  const cell = decodeDocumentCell(state);
  return cell.kind === 'state' ? Buffer.from(cell.documentId).toString('hex') : '';
}

function isBehindHorizon({ logEpoch, cursor }: Hello, { file }: LiveDatabase): boolean {
  return (
    logEpoch !== null &&
    Buffer.compare(logEpoch, file.logEpoch.id) === 0 &&
    cursor > 0 &&
    cursor < file.tombstones.tombstoneHorizon
  );
}
