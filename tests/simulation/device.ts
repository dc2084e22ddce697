import { RockpoolError, toRockpoolError, type ErrorCode, type ErrorData } from '#shared/index.ts';
import type { OpenedDatabase } from '#client/worker/leader/opened-database.ts';
import { NOTICE_REPEAT_MS } from '#client/worker/leader/leadership.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import type { SnapshotContent } from '#client/worker/first-sync/snapshot-source.ts';
import { Browser } from './browser.ts';
import {
  firstOpening,
  lostWrites,
  MISCOUNT,
  recreatesCounters,
  rowsFault,
  SHOWN_SQL,
  shownBy,
  viewFault,
} from './checks.ts';
import { watchCombinedDeliveries } from './combined-deliveries.ts';
import type { AppVersion } from './household-schema.ts';
import { DeviceClock } from './device-clock.ts';
import { createDeviceStorage, type DeviceStorage, type MediumKind, type StorageEvents } from './device-storage.ts';
import { checkLater } from './later-reads.ts';
import { marksIn, type Model, type Promised } from './model.ts';
import type { Network, Place } from './network.ts';
import type { RecordedWrites } from './oracle/recorded-writes.ts';
import type { Random } from './random.ts';
import { SILENT } from './silent-passes.ts';
import type { Tally } from './tally.ts';
import { Tab, type Runtimes } from './tab.ts';
import { tokenFor } from './tokens.ts';
import { currentOwner, type Owner, type VirtualTime } from './virtual-time.ts';
import { asCheck } from './work-count.ts';

const SECTOR_BYTES = 512;

/** The part size of a downloaded file. */
const CHUNK_BYTES = 64 * 1024;

/** Time for a commit notice, its repetition, and the delivery of both to the other tabs. */
const VISIBLE_AFTER_MS = NOTICE_REPEAT_MS + 500;

/** Errors that may end a connection although a retry does not fix them: swapped frames and copied files. */
const HONEST_TROUBLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['frame-unexpected', 'site-copied']);

/** Errors that may end a connection of a device whose role has changed, or whose token has expired. */
const LACK_OF_RIGHTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['auth-database-forbidden', 'auth-forbidden']);

/** Time in which the leader learns that the tab of an open transaction is gone, or gets its rollback. */
const ABANDONED_MS = 500;

/** Time until the user notices that a tab is outdated. */
const RELOAD_MS = 200;

/** A read may outlast its leader, or its tab. */
const HONEST_READ_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['leader-unreachable', 'client-closed']);

const FULL_STORAGE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['storage-full', 'storage-unflushed']);

/** Thrown where a worker dies, to unwind code that would not run any further. */
class TabKilled extends Error {}

export interface DeviceOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  readonly model: Model;
  readonly writes: RecordedWrites;
  readonly tally: Tally;
  readonly runtimes: Runtimes;
  readonly offsetMs: number;
  readonly onFault: (fault: string) => void;
  /** What the server would answer over HTTP. */
  readonly snapshot: () => Promise<Uint8Array<ArrayBuffer> | null>;
  readonly medium: MediumKind;
  readonly isStrict: boolean;
  /** The version of the app on this device. */
  readonly app: AppVersion;
  /** The device whose storage this one copies at its start. */
  readonly copyOf?: Device;
}

/** One browser profile: a disk, a clock, a network location and tabs. */
export class Device implements Place {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly storage: DeviceStorage;
  readonly isStrict: boolean;
  /** The version of the app that tabs open with. */
  app: AppVersion;
  /** The app was changed, so tabs of both versions may be open. */
  private hasChangedApp = false;
  readonly clock: DeviceClock;
  readonly browser: Browser;
  isPartitioned = false;
  isSlow = false;
  exchanges = 0;
  /** The lifetime of the tokens that the app requests. */
  tokenLifetimeMs = Infinity;
  /** The role of the device has been changed in this history. */
  hasLackedRights = false;
  /** The device started as a copy of another one's files. */
  readonly isCopy: boolean;
  tabs: Tab[] = [];
  /** The owners of all tabs, including closing and dead ones. */
  private readonly owners = new Set<Owner>();
  /** Tabs opened since the last power cut, including closing and dead ones. */
  private readonly everOpened: Tab[] = [];
  /** The storage has run out of room in this history; writes fail until it has room again. */
  hasBeenFull = false;
  private isFull = false;
  /** The number of upcoming storage changes after which it runs out of room. */
  private writesUntilFull = Infinity;
  /** The tabs that run a transaction of several calls, by its mark. */
  readonly openTransactions = new Map<string, Tab>();
  /** Since when the leader's connection has had a transaction that no tab runs; null: it has none. */
  private abandonedSinceMs: number | null = null;
  /** A row was changed behind Rockpool's back, and no audit has found it yet. */
  isDamaged = false;
  /** The tab that dies after this many more storage changes. */
  private doomed: { readonly tab: Tab; left: number } | null = null;
  /** The tab that dies after sending this many more frames. */
  private doomedAtSend: { readonly tab: Tab; left: number; readonly losesPower: boolean } | null = null;
  /** The number of upcoming storage changes that another tab reads in the middle of. */
  private looks = 0;
  /** The storage change in progress, and how often another tab read during it: first before it, then in the middle. */
  private call = { sizeBytes: 0, looks: 0 };
  private readonly options: DeviceOptions;
  private readonly open = new Map<OpenedDatabase<OpenDatabase>, object | undefined>();
  private readonly graves: OpenedDatabase<OpenDatabase>[] = [];
  private tabNumber = 0;
  private lastCommitMs = 0;
  private hasBeenLed = false;
  /** No tab has opened the files since a power cut. */
  private hasLostPower = false;

  constructor(options: DeviceOptions) {
    const { name, time, random, offsetMs, copyOf } = options;
    this.options = options;
    this.name = name;
    this.isCopy = copyOf !== undefined;
    this.isStrict = options.isStrict;
    this.app = options.app;
    this.time = time;
    this.random = random;
    const events: StorageEvents = {
      onCall: (sizeBytes) => {
        this.call = { sizeBytes, looks: 0 };
        return this.runsOutOfRoom();
      },
      onChange: () => this.onStorageCall(),
    };
    this.storage = copyOf?.storage.copy(events) ?? createDeviceStorage(options.medium, random, events);
    this.clock = new DeviceClock(time, offsetMs);
    this.browser = new Browser(time, random, (what) => options.tally.add(what));
  }

  /** The SQLite runtime of writers. */
  get writers(): Runtimes['writers'] {
    return this.options.runtimes.writers;
  }

  /** Tabs that can answer now. */
  get usableTabs(): Tab[] {
    return this.tabs.filter((tab) => tab.isUsable);
  }

  runs(owner: Owner): boolean {
    return this.owners.has(owner);
  }

  get leader(): Tab | undefined {
    return this.tabs.find((tab) => tab.owner.isAlive && !tab.isSuspended && tab.opened?.role === 'writer');
  }

  openTab(): void {
    const tab = new Tab(this, `${this.name}.${++this.tabNumber}`, this.options.runtimes);
    this.tabs.push(tab);
    this.owners.add(tab.owner);
    this.everOpened.push(tab);
    tab
      .run(() => tab.membership.open())
      .catch((thrown: RockpoolError) => {
        if (!tab.owner.isAlive) return;
        // The tab found no leader in time, because the leader died or sleeps. The page reports it, and the user
        // reloads.
        this.options.tally.add('tab did not open');
        const isHonest =
          thrown.code === 'storage-busy' || thrown.code === 'storage-missing' || thrown.code === 'client-closed';
        if (this.isForOtherApp(thrown.code)) return this.reload(tab);
        if (!isHonest && !this.isForLackOfRoom(thrown.code))
          this.options.onFault(`${tab.owner.name} cannot open: ${thrown.message}`);
        this.tabs = this.tabs.filter((one) => one !== tab);
      });
  }

  /** Returns a token as the app's own server issues it. */
  token(): string {
    return tokenFor(this.name, this.time.nowMs + this.tokenLifetimeMs);
  }

  /** Tabs that are open keep the older version until they meet a newer one. */
  updateApp(): void {
    this.hasChangedApp = true;
    this.app = 'newer';
    this.options.tally.add('app updated');
    if ((this.leader?.opened?.database.outbox.pendingCount() ?? 0) > 0)
      this.options.tally.add('app updated over pending writes');
    this.openTab();
  }

  /** Rolls a faulty version back: the older one opens what the newer one has left. */
  rollBackApp(): void {
    this.hasChangedApp = true;
    this.app = 'older';
    this.options.tally.add('app rolled back');
    for (const tab of [...this.tabs]) tab.kill();
    this.openTab();
  }

  /** Whether the code says that a tab met a newer version of the app. */
  isForOtherApp(code: ErrorCode): boolean {
    return this.hasChangedApp && code === 'tab-outdated';
  }

  /** The user follows the page's advice. */
  reload(tab: Tab): void {
    if (!this.tabs.includes(tab)) return;
    this.options.tally.add('outdated tab reloaded');
    this.closeTab(tab);
    this.time.after(RELOAD_MS, () => {
      if (this.tabs.length < 3) this.openTab();
    });
  }

  closeTab(tab: Tab): void {
    this.tabs = this.tabs.filter((one) => one !== tab);
    tab.settle(() => tab.membership.close());
  }

  /** The tab dies while it writes, after this many more storage changes. */
  doom(tab: Tab, left: number): void {
    this.doomed = { tab, left };
  }

  /** Downloads a snapshot over HTTP that fails at times. If the server dies meanwhile, only the signal ends it. */
  async download(signal: AbortSignal): Promise<SnapshotContent | null> {
    const { random } = this;
    if (random.chance(0.3)) return null;
    await new Promise((resolve) => void setTimeout(resolve, random.below(this.isSlow ? 4_000 : 100)));
    const bytes = this.isPartitioned ? null : await Promise.race([this.options.snapshot(), nullOnAbort(signal)]);
    if (bytes === null) throw new RockpoolError('network-unreachable', { stage: 'snapshot' });
    const source = new ReadableStream<Uint8Array>({
      start(controller): void {
        for (let at = 0; at < bytes.length; at += CHUNK_BYTES) controller.enqueue(bytes.subarray(at, at + CHUNK_BYTES));
        controller.close();
      },
    });
    return { source, sizeBytes: bytes.length };
  }

  /** Cuts the power of the device: all tabs die, and unflushed writes may be lost. */
  losePower(): void {
    for (const tab of this.everOpened.splice(0)) tab.kill();
    const lost = this.storage.losePower();
    this.hasLostPower = true;
    this.options.tally.add('power cut of client');
    this.options.tally.add(`power cut on ${this.storage.kind}`);
    if (this.isStrict) this.options.tally.add('power cut under strict durability');
    if (lost > 0) this.options.tally.add('unflushed calls of a client lost');
  }

  /** `losesPower`: the device loses power with the frame, and restarts. */
  doomAtSend(tab: Tab, left: number, losesPower: boolean = false): void {
    this.doomedAtSend = { tab, left, losesPower };
  }

  onSent(owner: Owner): void {
    const { doomedAtSend: doomed } = this;
    if (doomed === null || doomed.tab.owner !== owner || doomed.left-- > 0) return;
    this.doomedAtSend = null;
    this.options.tally.add('crash of client at a send');
    doomed.tab.kill();
    if (!doomed.losesPower) return;
    // The device has stopped, but the code on the stack has to unwind.
    for (const tab of this.everOpened) tab.kill();
    this.time.after(0, () => {
      this.losePower();
      this.openTab();
    });
  }

  forgetDoom(): void {
    this.doomed = null;
    this.doomedAtSend = null;
    this.looks = 0;
  }

  /** The storage runs out of room after this many more changes, and has room again some time later. */
  fillUp(writes: number, forMs: number): void {
    this.writesUntilFull = writes;
    this.time.after(forMs, () => this.makeRoom());
  }

  makeRoom(): void {
    if (this.isFull) this.options.tally.add(`room again on ${this.storage.kind}`);
    this.isFull = false;
    this.writesUntilFull = Infinity;
    this.storage.setFreeBytes(undefined);
  }

  private runsOutOfRoom(): boolean {
    if (!this.isFull && this.writesUntilFull-- <= 0) {
      this.isFull = true;
      this.hasBeenFull = true;
      this.storage.setFreeBytes(0);
      this.options.tally.add(`storage full on ${this.storage.kind}`);
    }
    return this.isFull;
  }

  /** Whether the failure reports a lack of room to the author of a write or to the app. */
  isForLackOfRoom(code: ErrorCode): boolean {
    return this.hasBeenFull && FULL_STORAGE.has(code);
  }

  lookInTheMiddle(times: number): void {
    this.looks = times;
  }

  /** A writer's database, with a record of everything that it commits. */
  recorded(tab: Tab, opened: OpenedDatabase<OpenDatabase>): OpenedDatabase<OpenDatabase> {
    const { database } = opened;
    const { model, writes, onFault, tally } = this.options;
    if (!this.hasLostPower && this.storage.kind !== 'indexeddb') writes.onOpened(this.name, database);
    this.noticeLoss(tab, database);
    watchCombinedDeliveries(database, () => tally.add('deliveries applied together'));
    model.record(this.name, database);
    const lost = lostWrites(model, this.name, database) ?? firstOpening(database);
    if (lost !== null) onFault(`${tab.owner.name} after opening: ${lost}`);
    const recorded: OpenDatabase = {
      ...database,
      // The site id changes when the device continues as another site.
      get siteId() {
        return database.siteId;
      },
      retryIfUnchanged: (sequence) => {
        const kind = { isAtomic: false, ofSequence: sequence };
        return writes.around(this.name, database, kind, () => database.retryIfUnchanged(sequence));
      },
      write: (request) => {
        const dropping = request.action?.kind === 'drop-rejected' ? marksIn(database, request.action.sequence) : [];
        let outcome: ReturnType<OpenDatabase['write']>;
        try {
          const kind = {
            isAtomic: request.action?.kind === 'atomic',
            ofSequence: request.action?.kind === 'retry-rejected' ? request.action.sequence : null,
          };
          outcome = writes.around(this.name, database, kind, () => database.write(request));
        } catch (thrown) {
          // The device may have stored the drop before it was killed.
          if (!tab.owner.isAlive) model.recordDropped(dropping);
          else writes.forgetInterrupted(this.name);
          throw thrown;
        }
        model.recordDropped(dropping);
        if (!tab.owner.isAlive) return outcome;
        asCheck(() => model.record(this.name, database));
        model.recordLocal(this.name, request.statements);
        if (outcome.repeated) tally.add('repeated request');
        return outcome;
      },
      begin: (options) => {
        const kind = { isAtomic: options?.atomic === true, ofSequence: null, before: writes.contentOf(database) };
        const transaction = database.begin(options);
        const commit = transaction.commit.bind(transaction);
        transaction.commit = (requestId) => {
          try {
            const outcome = writes.around(this.name, database, kind, () => commit(requestId));
            if (tab.owner.isAlive) asCheck(() => model.record(this.name, database));
            return outcome;
          } catch (thrown) {
            if (tab.owner.isAlive) writes.forgetInterrupted(this.name);
            throw thrown;
          }
        };
        return transaction;
      },
    };
    return { ...opened, database: recorded };
  }

  /** The medium refused a commit after COMMIT had returned, and has taken it back. */
  onUndone(tab: Tab): void {
    this.options.tally.add('commit undone by the medium');
    const database = tab.opened?.database;
    if (database !== undefined) this.forgetLost(tab, database, { sent: true, acknowledged: true });
  }

  private noticeLoss(tab: Tab, database: OpenDatabase): void {
    const isStoredBehind = this.storage.kind === 'indexeddb';
    if (!this.hasLostPower && !isStoredBehind) return;
    const isFlushed = this.isStrict || !this.hasLostPower;
    this.forgetLost(tab, database, { sent: isFlushed || !isStoredBehind, acknowledged: isFlushed });
    this.hasLostPower = false;
  }

  private forgetLost(tab: Tab, database: OpenDatabase, promised: Promised): void {
    const { model, writes, onFault, tally } = this.options;
    writes.forgetLost(this.name, database);
    const { fault, lost } = model.forgetLost(this.name, database, promised);
    if (fault !== null) onFault(`${tab.owner.name} after a loss: ${fault}`);
    if (this.hasLostPower) tally.add('transaction lost in a power cut', lost);
  }

  onOpened(opened: OpenedDatabase<OpenDatabase>): void {
    this.open.set(opened, currentOwner());
  }

  onClosing(opened: OpenedDatabase<OpenDatabase>): void {
    this.open.delete(opened);
  }

  /** Sync ended a connection and starts another one. Hiding a fault that way is still a fault. */
  onTrouble(tab: Tab, { code, recovery, message }: ErrorData): void {
    const isForLackOfRights = this.hasLackedRights && LACK_OF_RIGHTS.has(code);
    const isExpired = this.tokenLifetimeMs < Infinity && code === 'auth-token-expired';
    if (recovery === 'retry' || HONEST_TROUBLE.has(code) || isForLackOfRights || isExpired) return;
    if (!this.isForLackOfRoom(code) && !this.isForOtherApp(code))
      this.options.onFault(`${tab.owner.name} cannot go on: ${message}`);
  }

  onLeader(): void {
    if (this.hasBeenLed) this.options.tally.add('leader change');
    this.hasBeenLed = true;
  }

  /** Damages a row like a faulty disk or a user with a debugger. Returns the leader; the next one checks at once. */
  damage(): Tab | null {
    const { leader } = this;
    const connection = leader?.opened?.database.connection;
    if (leader === undefined || connection === undefined) return null;
    leader.run(() => {
      connection.setTriggers(false);
      connection.run("UPDATE mark SET author = 'nobody' WHERE id = (SELECT min(id) FROM mark)");
      connection.setTriggers(true);
    });
    this.isDamaged = true;
    return leader;
  }

  onEnded(tab: Tab, error: RockpoolError): void {
    if (this.isForOtherApp(error.code)) this.reload(tab);
    else this.onProblem(tab, error);
  }

  onProblem(tab: Tab, error: RockpoolError): void {
    this.options.tally.add(`problem ${error.code}`);
    if (this.isDamaged && error.code === 'replica-diverged') {
      this.isDamaged = false;
      return;
    }
    if (error.recovery === 'bug')
      this.options.onFault(`${tab.owner.name} reports ${error.message} ${String(error.cause)}`);
  }

  onKilled(tab: Tab): void {
    this.tabs = this.tabs.filter((one) => one !== tab);
    if (this.doomed?.tab === tab) this.doomed = null;
    this.options.network.forget(tab.owner);
    for (const [opened, owner] of this.open) {
      if (owner !== tab.owner) continue;
      this.open.delete(opened);
      this.graves.push(opened);
    }
  }

  /** Frees the resources of dead workers. Do not call while their code is on the stack. */
  bury(): void {
    for (const opened of this.graves.splice(0)) {
      try {
        opened.database.close();
      } catch {
        // The storage is dead; only memory has to be freed.
      }
      opened.close({ handsOver: false }).catch(() => undefined);
    }
  }

  /** Checks every tab that was notified of a commit, and in quiet moments every tab that should have been. */
  check(): void {
    const tabs = this.usableTabs;
    this.checkAbandoned();
    // Notified tabs come first: one of them may just have committed, and the others need not know yet.
    for (const tab of tabs) if (tab.isDirty) this.look(tab);
    for (const tab of tabs)
      if (tab.comparedMs < this.lastCommitMs && this.lastCommitMs + VISIBLE_AFTER_MS < this.time.nowMs)
        this.checkShown(tab);
  }

  /** The leader rolls back an open transaction whose tab is gone. */
  private checkAbandoned(): void {
    const isOpen = this.leader?.opened?.database.connection.inTransaction === true;
    for (const [mark, tab] of this.openTransactions) if (!tab.owner.isAlive) this.openTransactions.delete(mark);
    if (!isOpen || this.openTransactions.size > 0) this.abandonedSinceMs = null;
    else if (this.abandonedSinceMs === null) this.abandonedSinceMs = this.time.nowMs;
    else if (this.abandonedSinceMs + ABANDONED_MS < this.time.nowMs) {
      this.abandonedSinceMs = null;
      this.options.onFault(`${this.name} has a transaction open that no tab runs`);
    }
  }

  private look(tab: Tab): void {
    tab.isDirty = false;
    if (tab.opened?.role === 'writer') this.lastCommitMs = this.time.nowMs;
    tab.looks++;
    if (tab.readsLater) return this.lookLater(tab);
    tab.shown = tab.run(() => shownBy(tab));
    this.checkView(tab, '');
  }

  /** A live query reruns only after a commit notice. */
  private checkShown(tab: Tab): void {
    const { lastCommitMs } = this;
    const { looks } = tab;
    tab.comparedMs = this.time.nowMs;
    const compare = (now: string | null): void => {
      // The tab may read a commit that is announced only later, when it is flushed or stored.
      this.time.after(VISIBLE_AFTER_MS, () => {
        if (!tab.isUsable) return;
        if (this.lastCommitMs !== lastCommitMs || tab.looks !== looks || tab.shown === null || tab.shown === now)
          return;
        this.options.onFault(`${tab.owner.name} shows ${tab.shown} where there is ${now}`);
      });
    };
    if (tab.readsLater) this.readLater(tab, async () => compare(await checkLater(tab, (ask) => ask(SHOWN_SQL))));
    else compare(tab.run(() => shownBy(tab)));
  }

  private lookLater(tab: Tab): void {
    const { looks } = tab;
    this.readLater(tab, async () => {
      const returnsChangesets = this.returnsChangesets(tab);
      const [shown, fault] = await checkLater(tab, (ask) => [ask(SHOWN_SQL), rowsFault(ask)]);
      if (tab.looks === looks) tab.shown = shown;
      if (fault !== null) this.onViewFault(`${tab.owner.name} reads ${fault}`, returnsChangesets);
      if (tab.readsThroughLeader) this.options.tally.add('read through the leader');
    });
  }

  private readLater(tab: Tab, read: () => Promise<void>): void {
    tab.run(read).catch((thrown: unknown) => {
      const { code, message } = toRockpoolError(thrown);
      const isHonest = HONEST_READ_FAILURES.has(code) || this.isForLackOfRoom(code) || this.isForOtherApp(code);
      if (tab.owner.isAlive && !isHonest) this.options.onFault(`${tab.owner.name} cannot read: ${message}`);
    });
  }

  private checkView(tab: Tab, when: string): void {
    const fault = tab.run(() => viewFault(tab));
    if (fault !== null)
      this.onViewFault(
        `${tab.owner.name} sees ${when}${fault}`,
        tab.run(() => this.returnsChangesets(tab)),
      );
  }

  /**
   * A pending changeset may have taken effect already, under another site: this device continues as another site and
   * returns it to a restored server, or its copy has sent what they share. Until the server decides, a counter shows the
   * additions twice.
   */
  private returnsChangesets(tab: Tab): boolean {
    const database = (this.leader ?? tab).opened?.database;
    if (database === undefined) return false;
    if (recreatesCounters(database)) return true;
    const lastAckedSequence = database.outbox.lastAckedSequence();
    const pending = 'SELECT sequence, origin IS NOT NULL FROM rockpool_changelog WHERE sequence > ?';
    return database.connection
      .rows(pending, lastAckedSequence)
      .some(
        ([sequence, hasOrigin]) =>
          hasOrigin === 1 || marksIn(database, Number(sequence)).some((mark) => this.options.model.shared.has(mark)),
      );
  }

  private onViewFault(fault: string, returnsChangesets: boolean): void {
    if (returnsChangesets && fault.includes(MISCOUNT)) this.options.tally.add(SILENT.recreatedCounters);
    else this.options.onFault(fault);
  }

  private onStorageCall(): void {
    const owner = currentOwner();
    const { doomed } = this;
    // A process that is killed leaves no part of a write within one sector.
    const isWhole = this.call.looks++ > 0 && this.call.sizeBytes <= SECTOR_BYTES;
    if (doomed !== null && doomed.tab.owner === owner && doomed.left-- <= 0 && !isWhole) {
      this.doomed = null;
      this.options.tally.add('crash of client at a storage call');
      doomed.tab.kill();
    }
    // Throwing leaves a write undone, or half done.
    if (owner?.isAlive === false) throw new TabKilled('killed');
    if (this.looks <= 0) return;
    const reader = this.tabs.find((tab) => tab.owner !== owner && tab.isUsable && tab.opened?.role === 'reader');
    if (reader === undefined) return;
    this.looks--;
    this.options.tally.add('look in the middle of a write');
    this.checkView(reader, 'in the middle of a write ');
  }
}

function nullOnAbort(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
