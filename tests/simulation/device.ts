import { RockpoolError, type ErrorCode, type ErrorData } from '#shared/index.ts';
import type { OpenedDatabase } from '#client/worker/leader/opened-database.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import type { SnapshotContent } from '#client/worker/first-sync/snapshot-source.ts';
import { Browser } from './browser.ts';
import { CommitRecord } from './commit-record.ts';
import type { AppVersion } from './household-schema.ts';
import { DeviceClock } from './device-clock.ts';
import { createDeviceStorage, type DeviceStorage, type MediumKind, type StorageEvents } from './device-storage.ts';
import type { Model } from './model.ts';
import type { Network, Place } from './network.ts';
import type { RecordedWrites } from './oracle/recorded-writes.ts';
import type { Random } from './random.ts';
import { ShownRows } from './shown-rows.ts';
import type { Tally } from './tally.ts';
import { Tab, type Runtimes } from './tab.ts';
import { jwtFor, tokenFor } from './tokens.ts';
import { currentOwner, type Owner, type VirtualTime } from './virtual-time.ts';

const SECTOR_BYTES = 512;

/** The size of the parts in which a file is downloaded. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Errors that may end a connection even though a retry does not fix them: swapped frames, copied files, and a quota
 * that is reached for a while.
 */
const HONEST_TROUBLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'frame-unexpected',
  'quota-exceeded',
  'site-copied',
]);

/** Errors that may end a connection of a device whose role has changed, or whose token has expired. */
const LACK_OF_RIGHTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['auth-database-forbidden', 'auth-forbidden']);

/** Time until the user notices that a tab is outdated. */
const RELOAD_MS = 200;

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
  /** The snapshot that the server would send over HTTP; null if it is down. */
  readonly snapshot: () => Promise<Uint8Array<ArrayBuffer> | null>;
  readonly medium: MediumKind;
  readonly isStrict: boolean;
  /** The version of the app on this device. */
  readonly app: AppVersion;
  readonly blocksSockets: boolean;
  /** Whether the app's tokens are JWTs, which a session renews. */
  readonly renewsTokens: boolean;
  /** Whether its pages may show presence. */
  readonly showsPresence: boolean;
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
  readonly record: CommitRecord;
  readonly shownRows: ShownRows;
  isPartitioned = false;
  isSlow = false;
  readonly blocksSockets: boolean;
  readonly showsPresence: boolean;
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
  /** A row was changed without Rockpool, and no audit has found the damage yet. */
  isDamaged = false;
  /** The tab that dies after this many more storage changes. */
  private doomed: { readonly tab: Tab; left: number } | null = null;
  /** The tab that dies after sending this many more frames. */
  private doomedAtSend: { readonly tab: Tab; left: number; readonly losesPower: boolean } | null = null;
  /** The number of upcoming storage changes during which another tab reads. */
  private looks = 0;
  /**
   * The storage change in progress. `looks` counts the calls of `onStorageCall` for it: the first call comes before the
   * change, the second in the middle.
   */
  private call = { sizeBytes: 0, looks: 0 };
  private readonly options: DeviceOptions;
  private readonly open = new Map<OpenedDatabase<OpenDatabase>, object | undefined>();
  private readonly graves: OpenedDatabase<OpenDatabase>[] = [];
  private tabNumber = 0;
  private hasBeenLed = false;

  constructor(options: DeviceOptions) {
    const { name, time, random, offsetMs, copyOf } = options;
    this.options = options;
    this.name = name;
    this.isCopy = copyOf !== undefined;
    this.isStrict = options.isStrict;
    this.blocksSockets = options.blocksSockets;
    this.showsPresence = options.showsPresence;
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
    this.record = new CommitRecord(this, options);
    this.shownRows = new ShownRows(this, options);
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
    // Asked several times after each event, so without a closure.
    for (const tab of this.tabs) if (tab.opened?.role === 'writer' && tab.owner.isAlive && !tab.isSuspended) return tab;
    return undefined;
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
        // The tab found no leader in time, because the leader died or is frozen. The page reports the error, and the
        // user reloads.
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
    const expiresAtMs = this.time.nowMs + this.tokenLifetimeMs;
    return this.options.renewsTokens ? jwtFor(this.name, expiresAtMs) : tokenFor(this.name, expiresAtMs);
  }

  /** Open tabs keep the older version until they learn of the newer one. */
  updateApp(): void {
    this.hasChangedApp = true;
    this.app = 'newer';
    this.options.tally.add('app updated');
    if ((this.leader?.opened?.database.outbox.pendingCount() ?? 0) > 0)
      this.options.tally.add('app updated over pending writes');
    this.openTab();
  }

  /** Rolls a faulty version of the app back: the older version opens the files that the newer one wrote. */
  rollBackApp(): void {
    this.hasChangedApp = true;
    this.app = 'older';
    this.options.tally.add('app rolled back');
    for (const tab of [...this.tabs]) tab.kill();
    this.openTab();
  }

  /** Whether the error code says that a tab met a newer version of the app. */
  isForOtherApp(code: ErrorCode): boolean {
    return this.hasChangedApp && code === 'tab-outdated';
  }

  /** The user reloads an outdated tab, as its page advises. */
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
    tab.settle(() => tab.close());
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
    this.record.onPowerLoss();
    this.options.tally.add('power cut of client');
    this.options.tally.add(`power cut on ${this.storage.kind}`);
    if (this.isStrict) this.options.tally.add('power cut under strict durability');
    if (lost > 0) this.options.tally.add('unflushed calls of a client lost');
  }

  /** The tab dies after sending this many more frames. `losesPower`: the device then loses power, and restarts. */
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

  /** Whether the error code reports full storage to the author of a write or to the app. */
  isForLackOfRoom(code: ErrorCode): boolean {
    return this.hasBeenFull && FULL_STORAGE.has(code);
  }

  lookInTheMiddle(times: number): void {
    this.looks = times;
  }

  onOpened(opened: OpenedDatabase<OpenDatabase>): void {
    this.open.set(opened, currentOwner());
  }

  onClosing(opened: OpenedDatabase<OpenDatabase>): void {
    this.open.delete(opened);
  }

  /** Sync ended a connection and starts a new one. A fault that this hides still counts as a fault. */
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

  /**
   * Damages a row like a faulty disk or a user with a debugger. Returns the leader; the first audit of the next leader
   * is due at once.
   */
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
    if (this.graves.length === 0) return;
    for (const opened of this.graves.splice(0)) {
      try {
        opened.database.close();
      } catch {
        // The storage is dead; only memory has to be freed.
      }
      opened.close({ handsOver: false }).catch(() => undefined);
    }
  }

  private onStorageCall(): void {
    const owner = currentOwner();
    const { doomed } = this;
    // If a process is killed, a write that fits into one sector is either complete or absent.
    const isWhole = this.call.looks++ > 0 && this.call.sizeBytes <= SECTOR_BYTES;
    if (doomed !== null && doomed.tab.owner === owner && doomed.left-- <= 0 && !isWhole) {
      this.doomed = null;
      this.options.tally.add('crash of client at a storage call');
      doomed.tab.kill();
    }
    // This error leaves the write undone, or half done.
    if (owner?.isAlive === false) throw new TabKilled('killed');
    if (this.looks <= 0) return;
    const reader = this.tabs.find((tab) => tab.owner !== owner && tab.isUsable && tab.opened?.role === 'reader');
    if (reader === undefined) return;
    this.looks--;
    this.options.tally.add('look in the middle of a write');
    this.shownRows.checkView(reader, 'in the middle of a write ');
  }
}

function nullOnAbort(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
