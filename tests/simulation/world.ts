import type { Push } from '../../packages/shared/src/index.ts';
import type { OpenDatabase } from '../../packages/client/src/worker/database/open-database.ts';
import { loadDocumentSupport } from '../../packages/client/src/worker/documents/load-document-support.ts';
import { loadSqlite } from '../../packages/client/src/worker/sqlite/load-sqlite.node.ts';
import { contentOf, difference, MISCOUNT, readText, serverFault } from './checks.ts';
import { Device } from './device.ts';
import { householdSchema } from './household-schema.ts';
import { Model } from './model.ts';
import { Network } from './network.ts';
import { Random } from './random.ts';
import { ServerHost } from './server-host.ts';
import { StampCheck } from './stamp-check.ts';
import type { Runtimes } from './tab.ts';
import { Tally } from './tally.ts';
import type { Variant } from './variant.ts';
import { VirtualTime, type Owner } from './virtual-time.ts';

const YEAR_MS = 365 * 24 * 3600 * 1000;

let runtimes: { readonly loaded: Runtimes; uses: number } | null = null;

// A database that was killed in the middle leaves something behind in SQLite's memory now and then.
const HISTORIES_PER_RUNTIME = 200;

const END_OF_SERVER = {
  killed: 'crash of server',
  'killed in commit': 'crash of server in a commit',
  'power loss': 'power cut of server',
} as const;

/** SQLite, loaded once for many histories, and the code of documents. */
export async function loadRuntimes(): Promise<Runtimes> {
  await loadDocumentSupport();
  if (runtimes === null || runtimes.uses >= HISTORIES_PER_RUNTIME)
    runtimes = { loaded: { writers: await loadSqlite(), readers: await loadSqlite() }, uses: 0 };
  runtimes.uses++;
  return runtimes.loaded;
}

export class HistoryFailed extends Error {}

/** The devices, the network and the server of one history, and what is checked after every event. */
export class World {
  readonly time = new VirtualTime();
  readonly tally = new Tally();
  readonly model = new Model();
  readonly devices: Device[] = [];
  readonly network: Network;
  readonly server: ServerHost;
  /** Texts of what happened, in order: the same seed gives the same. */
  readonly log: string[] = [];
  private readonly random: Random;
  private readonly faults: string[] = [];
  /** What the server held at each link of its log: watermarks come again after a restore, links do not. */
  private readonly contents = new Map<string, Map<string, string>>();
  private readonly pushedUpTo = new Map<string, number>();
  readonly stamps = new StampCheck();
  /** A restored server has not got everything that it once admitted. */
  wasRestored = false;
  private readonly runtimes: Runtimes;
  /** Of the last commit of the server that was looked at. */
  private logHash = '';
  private logEpoch: Uint8Array | null = null;
  /**
   * The server may begin a new epoch: once after each restore. One for each client that comes back later would throw
   * all others out again and again.
   */
  private mayBeginEpoch = false;

  constructor(seed: number, loaded: Runtimes, variant: Variant) {
    this.runtimes = loaded;
    this.random = new Random(seed ^ 0x5eed);
    const { time, tally } = this;
    this.server = new ServerHost({
      time,
      random: new Random(seed ^ 0xd15c),
      schema: householdSchema,
      isSlow: variant.isServerSlow,
      onPush: (site, push) => this.onPush(site, push),
      onFile: () => tally.add('whole state as a file'),
      onReload: () => tally.add('reload below the floor'),
      onCompacted: () => tally.add('document compacted'),
      onCarriedOver: () => tally.add('edit of a compacted document carried over'),
      onDiskFailed: () => tally.add('disk of server failed'),
      onDocumentThread: () => tally.add('document in another thread'),
      onKilled: (how) => {
        tally.add(END_OF_SERVER[how]);
        this.note(`server ends: ${how}`);
        this.network.serverGone();
      },
      onError: (error) => this.fault(`the server failed: ${String(error)}`),
    });
    this.network = new Network({
      time,
      random: this.random,
      tally,
      serverOwner: () => this.server.owner,
      onSent: (client) => this.deviceOf(client).onSent(client),
      onPushSent: (client, site, upTo) => this.model.recordSent(this.deviceOf(client).name, site, upTo),
      listen: (socket) => this.server.listen(socket),
    });
    time.afterEvent = () => this.afterEvent();
  }

  install(): void {
    const socketClass = this.network.webSocketClass((owner) => this.deviceOf(owner));
    // Pushes are not packed here: the platform deflates in threads of its own, and in real time.
    this.time.install(this.random, {
      WebSocket: socketClass,
      fetch: noHttp,
      CompressionStream: undefined,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    });
  }

  private deviceOf(owner: Owner): Device {
    const device = this.devices.find((one) => one.runs(owner));
    if (device === undefined) throw new Error(`nobody has the tab ${owner.name}`);
    return device;
  }

  addDevice(files?: ReadonlyMap<string, Uint8Array>): Device {
    const { time, random, network, model, tally, runtimes: loaded } = this;
    const offsetMs = random.pick([0, 0, 0, YEAR_MS, -YEAR_MS, 1234, -90_000]);
    const name = `d${this.devices.length + 1}`;
    const device = new Device({
      name,
      time,
      random,
      network,
      model,
      tally,
      runtimes: loaded,
      offsetMs,
      onFault: (fault) => this.fault(fault),
      snapshot: () => this.server.snapshot(),
      ...(files === undefined ? {} : { files }),
    });
    this.devices.push(device);
    return device;
  }

  /** A second profile with the files of the first, as a backup of a whole computer leaves it. */
  copyDevice(device: Device): void {
    const copy = this.addDevice(device.copyFiles());
    this.model.copy(device.name, copy.name);
    copy.openTab();
  }

  damageOne(): void {
    this.random.pick(this.devices).damage();
  }

  /** Nothing comes in or goes out for so long; then everything at once. */
  stallServer(durationMs: number): void {
    this.network.stall(true);
    this.tally.add('server stalled');
    this.time.after(durationMs, () => this.network.stall(false));
  }

  /** The server has lost the end of its log: it may say so by a new epoch, and its watermarks come again. */
  onRestored(): void {
    this.tally.add('restored backup');
    this.note('server restored');
    this.wasRestored = true;
    this.mayBeginEpoch = true;
    this.logEpoch = null;
    this.logHash = '';
    this.contents.clear();
  }

  note(what: string): void {
    this.log.push(`${this.time.nowMs} ${what}`);
  }

  fault(what: string): void {
    if (
      what.includes(MISCOUNT) &&
      this.model.isMadeTwice(this.devices.flatMap(({ leader }) => leader?.opened?.database ?? []))
    )
      return this.tally.add('made anew twice');
    this.faults.push(`at ${this.time.nowMs}: ${what}`);
  }

  /** Throws what was found to be wrong so far. */
  assertSound(): void {
    const [fault] = [
      ...this.faults,
      ...this.server.failures,
      ...this.time.uncaught.map(
        (thrown) => `uncaught: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`,
      ),
    ];
    if (fault !== undefined) throw new HistoryFailed(fault);
  }

  serverContent(): Map<string, string> {
    const { live } = this.server;
    if (live === null) throw new Error('the server is down');
    return contentOf((sql) => (live.file.sql.get(sql)?.[0] ?? null) as string | null);
  }

  async dispose(): Promise<void> {
    for (const device of this.devices) for (const tab of [...device.tabs]) tab.kill();
    await this.time.settle();
    this.server.close();
    this.time.uninstall();
  }

  private onPush(site: string, push: Push): void {
    this.stamps.onPush(site, push, this.time.nowMs);
    const { changesets } = push;
    const [first] = changesets;
    const known = this.pushedUpTo.get(site) ?? 0;
    if (first !== undefined && first.sequence <= known) this.tally.add('doubled push');
    this.pushedUpTo.set(site, Math.max(known, changesets.at(-1)?.sequence ?? 0));
  }

  private afterEvent(): void {
    this.server.bury();
    const { live } = this.server;
    if (live !== null) this.checkEpoch(live.file.logEpoch.id);
    if (live !== null && hex(live.file.log.hashAt(live.file.log.watermark)) !== this.logHash) this.onServerCommit();
    for (const device of this.devices) {
      device.bury();
      for (const tab of device.usableTabs) {
        if (tab.isDirty && tab.opened?.role === 'writer' && !device.isDamaged)
          this.compareWithServer(device, tab.opened.database);
      }
      device.check();
    }
  }

  /** Nothing that was told may be lost: a log that begins a new epoch has lost something. */
  private checkEpoch(logEpoch: Uint8Array): void {
    if (this.logEpoch === logEpoch) return;
    if (this.logEpoch !== null && Buffer.compare(this.logEpoch, logEpoch) !== 0) {
      if (!this.mayBeginEpoch)
        this.fault(
          this.wasRestored
            ? 'the server has begun another epoch without need'
            : 'the log of the server has lost its end',
        );
      this.mayBeginEpoch = false;
      this.tally.add('new epoch');
      this.contents.clear();
      this.logHash = '';
    }
    this.logEpoch = logEpoch;
  }

  private onServerCommit(): void {
    const { live } = this.server;
    if (live === null) return;
    const { watermark } = live.file.log;
    this.logHash = hex(live.file.log.hashAt(watermark));
    if (this.server.isSettling) this.tally.add('commit of the server that does not last yet');
    const fault = serverFault((sql) => (live.file.sql.get(sql)?.[0] ?? null) as string | null);
    if (fault !== null) this.fault(`the server has ${fault}`);
    // A clock that is a year ahead makes nothing newer than the moment in which it came.
    const newestMs = Number(live.file.sql.get('SELECT max(stamp_us) / 1000 FROM rockpool_log')?.[0] ?? 0);
    if (newestMs > this.time.nowMs) this.fault(`the server has a stamp of ${newestMs}, which is in the future`);
    this.contents.set(this.logHash, this.serverContent());
    this.note(`server at ${watermark}`);
  }

  /** A device with nothing pending holds what the server held at its cursor, byte for byte. */
  private compareWithServer(device: Device, database: OpenDatabase): void {
    const { cursor } = database.meta;
    this.note(`${device.name} at ${cursor}`);
    const lastAckedSequence = database.outbox.lastAckedSequence();
    for (const sequence of database.rejected.sequences()) if (sequence > lastAckedSequence) this.tally.add('slow path');
    if (database.outbox.pendingCount() > 0) return;
    const { logEpoch } = database.meta;
    // What it holds is of a log that has lost its end since.
    if (logEpoch === null || this.logEpoch === null || Buffer.compare(logEpoch, this.logEpoch) !== 0) return;
    const expected = this.contents.get(hex(database.meta.cursorHash));
    if (expected === undefined) return;
    this.tally.add('comparison at a cursor');
    const found = difference(
      contentOf((sql) => readText(database, sql)),
      expected,
    );
    if (found !== null)
      this.fault(`${device.name} at cursor ${cursor} differs from the server as it was there: ${found}`);
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/**
 * Where sockets do not open, clients try plain HTTP. That way is not simulated, and the real one would answer in real
 * time.
 */
function noHttp(): Promise<never> {
  return Promise.reject(new TypeError('there is no HTTP here'));
}
