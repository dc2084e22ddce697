import { RockpoolError, type ErrorCode, type ErrorData } from '../../packages/shared/src/index.ts';
import type { Storage } from '../../packages/vfs-opfs/src/index.ts';
import { storageFileNames } from '../../packages/vfs-opfs/src/storage-name.ts';
import { SimulatedDisk } from '../../packages/vfs-opfs/testing/index.ts';
import { NOTICE_REPEAT_MS } from '../../packages/client/src/worker/leader/leadership.ts';
import type { OpenDatabase } from '../../packages/client/src/worker/database/open-database.ts';
import type { SnapshotContent } from '../../packages/client/src/worker/first-sync/snapshot-source.ts';
import { Browser } from './browser.ts';
import { firstOpening, lostWrites, shownBy, viewFault } from './checks.ts';
import { DeviceClock } from './device-clock.ts';
import { marksIn, type Model } from './model.ts';
import type { Network, Place } from './network.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';
import { Tab, type Runtimes } from './tab.ts';
import { currentOwner, type Owner, type VirtualTime } from './virtual-time.ts';

const SECTOR_BYTES = 512;

/** The part size of a downloaded file. */
const CHUNK_BYTES = 64 * 1024;

/** Time for a commit notice, its repetition, and the delivery of both to the other tabs. */
const VISIBLE_AFTER_MS = NOTICE_REPEAT_MS + 500;

/** Errors that may end a connection although a retry does not fix them: swapped frames and copied files. */
const HONEST_TROUBLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['frame-unexpected', 'site-copied']);

/** Thrown where a worker dies, to unwind code that would not run any further. */
class TabKilled extends Error {}

export interface DeviceOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  readonly model: Model;
  readonly tally: Tally;
  readonly runtimes: Runtimes;
  readonly offsetMs: number;
  readonly onFault: (fault: string) => void;
  /** What the server would answer over HTTP. */
  readonly snapshot: () => Promise<Uint8Array<ArrayBuffer> | null>;
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** One browser profile: a disk, a clock, a network location and tabs. */
export class Device implements Place {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly disk: SimulatedDisk;
  readonly clock: DeviceClock;
  readonly browser: Browser;
  isPartitioned = false;
  isSlow = false;
  exchanges = 0;
  /** It started as a copy of another device's files. */
  readonly isCopy: boolean;
  tabs: Tab[] = [];
  /** Of all its tabs, including closing and dead ones. */
  private readonly owners = new Set<Owner>();
  /** Since the last power cut, including closing and dead tabs. */
  private readonly everOpened: Tab[] = [];
  /** A row was changed behind Rockpool's back, and no audit has found it yet. */
  isDamaged = false;
  /** The tab that dies after this many more storage changes. */
  private doomed: { readonly tab: Tab; left: number } | null = null;
  /** The tab that dies after sending this many more frames. */
  private doomedAtSend: { readonly tab: Tab; left: number; readonly losesPower: boolean } | null = null;
  /** The number of upcoming storage changes in the middle of which another tab reads. */
  private looks = 0;
  /** The storage change in progress, and how often another tab read during it: first before it, then in the middle. */
  private call = { sizeBytes: 0, looks: 0 };
  private readonly options: DeviceOptions;
  private readonly open = new Map<OpenDatabase, { readonly storage: Storage; readonly owner: object | undefined }>();
  private readonly graves: { readonly database: OpenDatabase; readonly storage: Storage }[] = [];
  private tabNumber = 0;
  private lastCommitMs = 0;
  private hasBeenLed = false;
  /** No tab has opened the files since. */
  private hasLostPower = false;

  constructor(options: DeviceOptions) {
    const { name, time, random, offsetMs } = options;
    this.options = options;
    this.name = name;
    this.isCopy = options.files !== undefined;
    this.time = time;
    this.random = random;
    this.disk = new SimulatedDisk({
      canLosePower: true,
      ...(options.files === undefined ? {} : { files: options.files }),
    });
    this.clock = new DeviceClock(time, offsetMs);
    this.browser = new Browser(time, random);
    this.disk.fault = ({ sizeBytes }) => {
      this.call = { sizeBytes, looks: 0 };
      return undefined;
    };
    this.disk.observer = () => this.onStorageCall();
  }

  /** The medium of its writers. */
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
    return this.tabs.find((tab) => tab.isUsable && tab.opened?.role === 'writer');
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
        // It found no leader in time, because the leader died or sleeps. The page reports it, and the user reloads.
        this.options.tally.add('tab did not open');
        if (thrown.code !== 'storage-busy' && thrown.code !== 'storage-missing' && thrown.code !== 'client-closed')
          this.options.onFault(`${tab.owner.name} cannot open: ${thrown.message}`);
        this.tabs = this.tabs.filter((one) => one !== tab);
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

  /** Downloads a snapshot over HTTP that fails at times. */
  async download(): Promise<SnapshotContent | null> {
    const { random } = this;
    if (random.chance(0.3)) return null;
    await new Promise((resolve) => void setTimeout(resolve, random.below(this.isSlow ? 4_000 : 100)));
    const bytes = this.isPartitioned ? null : await this.options.snapshot();
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
    const lost = this.disk.losePower(() => this.random.next());
    this.hasLostPower = true;
    this.options.tally.add('power cut of client');
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

  lookInTheMiddle(times: number): void {
    this.looks = times;
  }

  /** The storage content that survives; also the content of a copy of the profile. */
  copyFiles(): Map<string, Uint8Array> {
    const files = new Map<string, Uint8Array>();
    for (const name of storageFileNames('household')) {
      const file = this.disk.file(name);
      if (file === undefined) continue;
      const bytes = new Uint8Array(file.sizeBytes);
      file.read(bytes, 0);
      files.set(name, bytes);
    }
    return files;
  }

  recorded(tab: Tab, database: OpenDatabase): OpenDatabase {
    const { model, onFault, tally } = this.options;
    if (this.hasLostPower) {
      this.hasLostPower = false;
      const { fault, lost: forgotten } = model.forgetLost(this.name, database, false);
      if (fault !== null) onFault(`${tab.owner.name} after opening: ${fault}`);
      tally.add('transaction lost in a power cut', forgotten);
    }
    model.record(this.name, database);
    const lost = lostWrites(model, this.name, database) ?? firstOpening(database);
    if (lost !== null) onFault(`${tab.owner.name} after opening: ${lost}`);
    return {
      ...database,
      write: (request) => {
        const dropping = request.action?.kind === 'drop-rejected' ? marksIn(database, request.action.sequence) : [];
        let outcome: ReturnType<OpenDatabase['write']>;
        try {
          outcome = database.write(request);
        } catch (thrown) {
          // The device may have given it up and been killed in the middle of that.
          if (!tab.owner.isAlive) model.recordDropped(dropping);
          throw thrown;
        }
        model.recordDropped(dropping);
        if (!tab.owner.isAlive) return outcome;
        model.record(this.name, database);
        model.recordLocal(this.name, request.statements);
        if (outcome.repeated) this.options.tally.add('repeated request');
        return outcome;
      },
    };
  }

  onOpened(database: OpenDatabase, storage: Storage): void {
    this.open.set(database, { storage, owner: currentOwner() });
  }

  onClosing(database: OpenDatabase): void {
    this.open.delete(database);
  }

  /** Sync ended a connection and starts another one. Hiding a fault that way is still a fault. */
  onTrouble(tab: Tab, { code, recovery, message }: ErrorData): void {
    if (recovery !== 'retry' && !HONEST_TROUBLE.has(code))
      this.options.onFault(`${tab.owner.name} cannot go on: ${message}`);
  }

  onLeader(): void {
    if (this.hasBeenLed) this.options.tally.add('leader change');
    this.hasBeenLed = true;
  }

  /** A faulty disk, or a person with a debugger. The next leader checks at once. */
  damage(): void {
    const { leader } = this;
    const connection = leader?.opened?.database.connection;
    if (leader === undefined || connection === undefined) return;
    leader.run(() => {
      connection.setTriggers(false);
      connection.run("UPDATE mark SET author = 'nobody' WHERE id = (SELECT min(id) FROM mark)");
      connection.setTriggers(true);
    });
    this.isDamaged = true;
    leader.kill();
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
    for (const [database, { storage, owner }] of this.open) {
      if (owner !== tab.owner) continue;
      this.open.delete(database);
      this.graves.push({ database, storage });
    }
  }

  /** Frees the resources of dead workers. Do not call while their code is on the stack. */
  bury(): void {
    for (const { database, storage } of this.graves.splice(0)) {
      try {
        database.close();
      } catch {
        // Its storage is dead; only its memory has to be freed.
      }
      storage.close().catch(() => undefined);
    }
  }

  /** Checks every tab that was notified of a commit, and in quiet moments every tab that should have been. */
  check(): void {
    const tabs = this.usableTabs;
    // Notified tabs come first: one of them may just have committed, and the others need not know yet.
    for (const tab of tabs) if (tab.isDirty) this.look(tab);
    for (const tab of tabs)
      if (tab.comparedMs < this.lastCommitMs && this.lastCommitMs + VISIBLE_AFTER_MS < this.time.nowMs)
        this.checkShown(tab);
  }

  private look(tab: Tab): void {
    tab.isDirty = false;
    if (tab.opened?.role === 'writer') this.lastCommitMs = this.time.nowMs;
    tab.shown = tab.run(() => shownBy(tab));
    this.checkView(tab, '');
  }

  /** A live query reruns only after a commit notice. */
  private checkShown(tab: Tab): void {
    tab.comparedMs = this.time.nowMs;
    const now = tab.run(() => shownBy(tab));
    if (tab.shown !== null && tab.shown !== now)
      this.options.onFault(`${tab.owner.name} shows ${tab.shown} where there is ${now}`);
  }

  private checkView(tab: Tab, when: string): void {
    const fault = tab.run(() => viewFault(tab));
    if (fault !== null) this.options.onFault(`${tab.owner.name} sees ${when}${fault}`);
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
    // Throwing leaves a write undone, or done by half.
    if (owner?.isAlive === false) throw new TabKilled('killed');
    if (this.looks <= 0) return;
    const reader = this.tabs.find((tab) => tab.owner !== owner && tab.isUsable && tab.opened?.role === 'reader');
    if (reader === undefined) return;
    this.looks--;
    this.options.tally.add('look in the middle of a write');
    this.checkView(reader, 'in the middle of a write ');
  }
}
