import type { Push } from '#shared/index.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import type { LogEpoch } from '#sync-server/log/log-epoch.ts';
import type { Log } from '#sync-server/log/log.ts';
import { contentOf, difference, isOlder, narrowed, serverFault, textsIn } from './checks.ts';
import { Device } from './device.ts';
import { householdSchema, type AppVersion } from './household-schema.ts';
import { Model } from './model.ts';
import { Network } from './network.ts';
import { Oracle } from './oracle/oracle.ts';
import { RecordedWrites } from './oracle/recorded-writes.ts';
import type { TableTexts } from './oracle/tables.ts';
import { keepsHistory, PastCheck, withHistory } from './past-check.ts';
import { Random } from './random.ts';
import { textsOnServer } from './read-server.ts';
import { ServerHost } from './server-host.ts';
import { SILENT } from './silent-passes.ts';
import { SilenceCheck } from './silence-check.ts';
import { noHttp, SimulatedHttp } from './simulated-request.ts';
import { StampCheck } from './stamp-check.ts';
import type { Runtimes, Tab } from './tab.ts';
import { Tally } from './tally.ts';
import type { Variant } from './variant.ts';
import { VirtualChannel } from './virtual-channel.ts';
import { VirtualTime, type Owner } from './virtual-time.ts';

const YEAR_MS = 365 * 24 * 3600 * 1000;

const END_OF_SERVER = {
  killed: 'crash of server',
  'killed in commit': 'crash of server in a commit',
  'power loss': 'power cut of server',
} as const;

/** What devices of each app version see. */
type Contents = ReadonlyMap<AppVersion, TableTexts>;

export class HistoryFailed extends Error {}

/** The devices, the network and the server of one history, and the checks after every event. */
export class World {
  readonly time = new VirtualTime();
  readonly tally = new Tally();
  readonly model = new Model();
  readonly devices: Device[] = [];
  readonly network: Network;
  readonly server: ServerHost;
  readonly silence: SilenceCheck;
  /** The events in order, as text: the same seed gives the same list. */
  readonly log: string[] = [];
  private readonly random: Random;
  private readonly faults: string[] = [];
  /** The server's content by log hash: watermarks repeat after a restore, log hashes do not. */
  private readonly contentsByHash = new Map<string, Contents>();
  /** The server's content at the last check. */
  private contents: Contents = new Map();
  private readonly pushedUpTo = new Map<string, number>();
  readonly stamps = new StampCheck();
  private readonly writes = new RecordedWrites();
  private readonly oracle = new Oracle({
    writes: this.writes,
    repeats: (site, sequence) => {
      const device = this.devices.find(({ leader }) => hexOfSite(leader) === site);
      const database = device?.leader?.opened?.database;
      return database === undefined ? undefined : this.writes.repeated(device?.name ?? '', database, sequence);
    },
    onFault: (fault) => this.fault(`the oracle: ${fault}`),
    onAdmitted: ({ mark }, site) => this.model.withdrawals.onAdmitted(mark, site, (fault) => this.fault(fault)),
    count: (what, times) => this.tally.add(what, times),
  });
  /** Null if the server keeps no history. */
  readonly past: PastCheck | null;
  /** Whether a restored server lacks changesets that it once admitted. */
  wasRestored = false;
  private readonly runtimes: Runtimes;
  readonly variant: Variant;
  /** Null if HTTP is not simulated. */
  private readonly http: SimulatedHttp | null;
  /** The previous log epoch. A power cut may undo the commit that began the current one before any client sees it. */
  private epochBefore: Uint8Array | null = null;
  /** Whether the server has lost power since the current log epoch began. */
  private hasLostPower = false;
  /** The log hash of the server's last checked commit. */
  private logHash = '';
  /** The log hash at the last event, as the server's object. */
  private seenHash: Uint8Array | null = null;
  private logEpoch: Uint8Array | null = null;
  /**
   * The server may begin one new log epoch after each restore, and another one only from an earlier watermark. If each
   * returning client began one, all others would be disconnected again and again.
   */
  private mayBeginEpoch = false;
  /** The watermark up to which the current and the previous log epoch have the same log. */
  private epochStartedAt = 0;

  constructor(seed: number, loaded: Runtimes, variant: Variant) {
    this.runtimes = loaded;
    this.variant = variant;
    this.random = new Random(seed ^ 0x5eed);
    const { time, tally } = this;
    this.silence = new SilenceCheck({
      time,
      instances: variant.instances ?? 1,
      onFault: (fault) => this.fault(fault),
      count: (what) => tally.add(what),
    });
    this.past = keepsHistory(seed, variant)
      ? new PastCheck(
          (fault) => this.fault(fault),
          () => tally.add('past state read'),
        )
      : null;
    this.server = new ServerHost({
      time,
      random: new Random(seed ^ 0xd15c),
      schema: keepsHistory(seed, variant) ? withHistory(householdSchema) : householdSchema,
      isSlow: variant.isServerSlow,
      instances: variant.instances ?? 1,
      operated: variant.operated ?? null,
      onPush: (site, push) => this.onPush(site, push),
      onFile: () => tally.add('snapshot file of a client'),
      onReload: () => tally.add('reload below the floor'),
      onCompacted: () => tally.add('document compacted'),
      onCarriedOver: () => tally.add('edit of a compacted document carried over'),
      onDiskFailed: () => tally.add('disk of server failed'),
      onSessionEnd: (code) => tally.add(`session ended: ${code}`),
      onDiskFull: () => tally.add('disk of server full'),
      onDocumentThread: () => tally.add('document in another thread'),
      onKilled: (how, owner) => {
        tally.add(END_OF_SERVER[how]);
        if (how !== 'killed') this.hasLostPower = true;
        this.note(`server ends: ${how}`);
        this.network.serverGone(owner);
      },
      onExit: (owner) => this.network.serverGone(owner),
      onError: (error) => this.fault(`the server failed: ${String(error)}`),
      count: (what) => tally.add(what),
    });
    this.network = new Network({
      time,
      random: this.random,
      tally,
      onSent: (client) => this.deviceOf(client).onSent(client),
      onSiteUsed: (client, site) => this.writes.noteSite(this.deviceOf(client).name, site),
      onPushSent: (client, site, upTo) => this.model.recordSent(this.deviceOf(client).name, site, upTo),
      listen: (socket) => this.server.listen(socket),
    });
    this.http =
      variant.operated === undefined
        ? null
        : new SimulatedHttp({
            network: this.network,
            placeOf: (owner) => this.deviceOf(owner),
            listen: () => this.server.listenToHttp(),
          });
    time.afterEvent = () => this.afterEvent();
  }

  install(): void {
    const socketClass = this.network.webSocketClass((owner) => this.deviceOf(owner));
    // Pushes are not compressed here, because the platform deflates in its own threads and in real time.
    this.time.install(this.random, {
      WebSocket: socketClass,
      fetch: this.http?.fetch ?? noHttp,
      CompressionStream: undefined,
      MessageChannel: VirtualChannel,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    });
  }

  private deviceOf(owner: Owner): Device {
    const device = this.devices.find((one) => one.runs(owner));
    if (device === undefined) throw new Error(`no device runs the tab ${owner.name}`);
    return device;
  }

  /** The app of some devices is older, and is updated. */
  get hasOlderApps(): boolean {
    return this.variant.apps !== undefined;
  }

  addDevice(copyOf?: Device): Device {
    const { time, random, network, model, writes, tally, runtimes: loaded } = this;
    const { media = ['opfs'], strict = [false], apps = ['newer'], operated } = this.variant;
    // A copy has the medium, the durability and the app version of its original.
    const number = copyOf === undefined ? this.devices.length : this.devices.indexOf(copyOf);
    const offsetMs = random.pick([0, 0, 0, YEAR_MS, -YEAR_MS, 1234, -90_000]);
    const name = `d${this.devices.length + 1}`;
    const device = new Device({
      name,
      time,
      random,
      network,
      model,
      writes,
      tally,
      runtimes: loaded,
      offsetMs,
      onFault: (fault) => this.fault(fault),
      snapshot: () => this.server.snapshot(),
      medium: media[number % media.length] ?? 'opfs',
      isStrict: strict[number % strict.length] ?? false,
      blocksSockets: operated?.blocksSockets[number % operated.blocksSockets.length] ?? false,
      renewsTokens: operated?.renewsTokens ?? false,
      showsPresence: operated !== undefined,
      app: copyOf?.app ?? apps[number % apps.length] ?? 'newer',
      ...(copyOf === undefined ? {} : { copyOf }),
    });
    this.devices.push(device);
    return device;
  }

  /** A second profile with a copy of the first one's files, as from a backup of a whole computer. */
  async copyDevice(device: Device): Promise<void> {
    // The copy must have the same record as its original, including what is on its way to the medium.
    while (device.storage.isBehind) await this.time.advance(1);
    const copy = this.addDevice(device);
    this.model.copy(device.name, copy.name);
    this.writes.copy(device.name, copy.name);
    copy.openTab();
  }

  async damageOne(): Promise<void> {
    // An audit compares nothing if the schemas differ.
    const audited = this.devices.filter(({ leader }) => {
      const schema = leader?.opened?.database.schema;
      return schema === undefined || !isOlder(schema);
    });
    if (audited.length === 0) return;
    const device = this.random.pick(audited);
    const damaged = device.damage();
    while (device.storage.isBehind) await this.time.advance(1);
    damaged?.kill();
  }

  /** Holds all traffic for this long, then releases it at once. */
  stallServer(durationMs: number): void {
    this.network.stall(true);
    this.tally.add('server stalled');
    this.time.after(durationMs, () => this.network.stall(false));
  }

  /** The server lost the end of its log. It may begin a new log epoch, and its watermarks repeat. */
  onRestored(): void {
    this.tally.add('restored backup');
    this.note('server restored');
    this.wasRestored = true;
    this.mayBeginEpoch = true;
    this.logEpoch = null;
    this.epochBefore = null;
    this.logHash = '';
    this.contentsByHash.clear();
  }

  note(what: string): void {
    this.log.push(`${this.time.nowMs} ${what}`);
  }

  fault(what: string): void {
    this.faults.push(`at ${this.time.nowMs}: ${what}`);
  }

  /** Throws the first problem found so far. */
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

  /** The server's content as devices of each app version see it. */
  serverContents(): Contents {
    const { live } = this.server;
    if (live === null) throw new Error('the server is down');
    const ask = textsOnServer(live.file.sql);
    const content = contentOf(ask, householdSchema, this.contents.get('newer'));
    this.contents = new Map([
      ['newer', content],
      ...(this.variant.apps === undefined
        ? []
        : [['older', narrowed(content, ask, this.contents.get('older'))] as const]),
    ]);
    return this.contents;
  }

  async dispose(): Promise<void> {
    for (const device of this.devices) for (const tab of [...device.tabs]) tab.kill();
    await this.time.settle();
    this.server.close();
    this.time.uninstall();
  }

  private onPush(site: string, push: Push): void {
    this.stamps.onPush(site, push, this.time.nowMs);
    const [first] = push.changesets;
    const known = this.pushedUpTo.get(site) ?? 0;
    if (first !== undefined && first.sequence <= known) this.tally.add('doubled push');
    this.pushedUpTo.set(site, Math.max(known, push.changesets.at(-1)?.sequence ?? 0));
  }

  private afterEvent(): void {
    this.server.bury();
    const { live } = this.server;
    if (live !== null) this.checkEpoch(live.file.logEpoch);
    if (live !== null && this.hasNewCommit(live.file.log)) this.onServerCommit();
    for (const device of this.devices) {
      device.bury();
      for (const tab of device.tabs) {
        if (tab.isDirty && tab.isUsable && tab.opened?.role === 'writer' && !tab.isWriting && !device.isDamaged)
          this.compareWithServer(device, tab.opened.database);
      }
      device.shownRows.check();
    }
  }

  /** Whether the log of the server ends in another commit than the last checked one. */
  private hasNewCommit(log: Log): boolean {
    const logHash = log.hashAt(log.watermark);
    // Most events change nothing at the server. An empty `logHash` requests a check of the same commit.
    if (logHash === this.seenHash && this.logHash !== '') return false;
    this.seenHash = logHash;
    return hex(logHash) !== this.logHash;
  }

  /** No acknowledged changeset may be lost: a new log epoch means that some were. */
  private checkEpoch({ id: logEpoch, startedAt }: LogEpoch): void {
    if (this.logEpoch === logEpoch) return;
    this.oracle.noteEpoch(hex(logEpoch));
    if (this.logEpoch !== null && Buffer.compare(this.logEpoch, logEpoch) !== 0) {
      const isReverted =
        this.hasLostPower && this.epochBefore !== null && Buffer.compare(this.epochBefore, logEpoch) === 0;
      // An instance that was opened after the restore cannot tell where the two logs diverge. A client that proves an
      // earlier watermark makes the server begin again from there.
      const isEarlier = this.wasRestored && startedAt < this.epochStartedAt;
      if (isReverted) this.tally.add('log epoch reverted by a power cut');
      else if (isEarlier) this.tally.add('log epoch begun again from an earlier place');
      else if (!this.mayBeginEpoch)
        this.fault(
          this.wasRestored
            ? 'the server has begun another log epoch without need'
            : 'the log of the server has lost its end',
        );
      this.mayBeginEpoch = isReverted;
      this.epochBefore = isReverted ? null : this.logEpoch;
      this.hasLostPower = false;
      this.tally.add('new log epoch');
      this.contentsByHash.clear();
      this.logHash = '';
    }
    this.logEpoch = logEpoch;
    this.epochStartedAt = startedAt;
  }

  private onServerCommit(): void {
    const { live } = this.server;
    if (live === null) return;
    const { watermark } = live.file.log;
    this.logHash = hex(live.file.log.hashAt(watermark));
    if (this.server.isSettling) this.tally.add('commit of the server that does not last yet');
    const fault = serverFault(textsOnServer(live.file.sql));
    if (fault !== null) this.fault(`the server has ${fault}`);
    const { id, startedAt } = live.file.logEpoch;
    const contents = this.serverContents();
    const content = contents.get('newer') ?? new Map<string, string>();
    this.oracle.onCommit(live.file.sql, { id: hex(id), startedAt }, content);
    // A clock that is a year ahead must not make a write newer than its arrival.
    const newestMs = Number(live.file.sql.get('SELECT max(stamp_us) / 1000 FROM rockpool_log')?.[0] ?? 0);
    if (newestMs > this.time.nowMs) this.fault(`the server has a stamp of ${newestMs}, which is in the future`);
    this.contentsByHash.set(this.logHash, contents);
    this.silence.onCommit(id, watermark);
    this.past?.onCommit(live.file, this.logHash, content);
    this.note(`server at ${watermark}`);
  }

  /** A device with nothing pending equals the server at its cursor, byte for byte. */
  private compareWithServer(device: Device, database: OpenDatabase): void {
    const { cursor } = database.meta;
    this.note(`${device.name} at ${cursor}`);
    const lastAckedSequence = database.outbox.lastAckedSequence();
    for (const sequence of database.rejected.sequences()) if (sequence > lastAckedSequence) this.tally.add('slow path');
    if (database.outbox.pendingCount() > 0) return;
    const { logEpoch } = database.meta;
    // The device's content belongs to a log that has since lost its end.
    if (logEpoch === null || this.logEpoch === null || Buffer.compare(logEpoch, this.logEpoch) !== 0)
      return this.tally.add(SILENT.otherEpoch);
    // The app was updated, and values of the new columns arrive with the next full resync.
    if (database.meta.get('wants_whole') === 1) return this.tally.add(SILENT.updatedApp);
    const { schema } = database;
    const expected = this.contentsByHash.get(hex(database.meta.cursorHash))?.get(isOlder(schema) ? 'older' : 'newer');
    if (expected === undefined) return this.tally.add(SILENT.unknownContent);
    this.tally.add('comparison at a cursor');
    if (isOlder(schema)) this.tally.add('comparison of an older schema');
    const content = contentOf(textsIn(database), schema);
    this.writes.noteTexts(database, content);
    const found = difference(content, expected);
    if (found !== null)
      this.fault(`${device.name} at cursor ${cursor} differs from the server as it was there: ${found}`);
  }
}

function hexOfSite(tab: Tab | undefined): string | null {
  const database = tab?.opened?.database;
  return database === undefined ? null : hex(database.siteId);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
