import { toRockpoolError, type ErrorCode } from '#shared/index.ts';
import { NOTICE_REPEAT_MS } from '#client/worker/leader/leadership.ts';
import { MISCOUNT, recreatesCounters, rowsFault, shownBy, shownTo, viewFault } from './checks.ts';
import type { Device, DeviceOptions } from './device.ts';
import { checkLater } from './later-reads.ts';
import { marksIn } from './model.ts';
import { SILENT } from './silent-passes.ts';
import type { Tab } from './tab.ts';

/** Time for a commit notice, its repetition, and the delivery of both to the other tabs. */
const VISIBLE_AFTER_MS = NOTICE_REPEAT_MS + 500;

/** Time in which the leader learns that the tab of an open transaction is gone, or gets its rollback. */
const ABANDONED_MS = 500;

/** Errors of a read whose leader or tab ends before the result arrives. */
const HONEST_READ_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['leader-unreachable', 'client-closed']);

/** Checks that the tabs of a device show only whole transactions, and every commit soon after it. */
export class ShownRows {
  private readonly device: Device;
  private readonly options: Pick<DeviceOptions, 'model' | 'tally' | 'onFault'>;
  private lastCommitMs = 0;
  /** The time since which the leader's connection has had a transaction that no tab runs; null if it has none. */
  private abandonedSinceMs: number | null = null;

  constructor(device: Device, options: DeviceOptions) {
    this.device = device;
    this.options = options;
  }

  /** Checks every tab that was notified of a commit, and in quiet moments every tab that should have been. */
  check(): void {
    this.checkAbandoned();
    // After most events there is nothing to check.
    if (!this.device.tabs.some((tab) => tab.isDirty || this.isDue(tab))) return;
    const tabs = this.device.usableTabs;
    // Notified tabs come first: one of them may just have committed, and the other tabs need not know of it yet.
    for (const tab of tabs) if (tab.isDirty) this.look(tab);
    for (const tab of tabs) if (this.isDue(tab)) this.checkShown(tab);
  }

  /** Whether the tab should have shown the last commit by now, and was not compared since. */
  private isDue({ comparedMs }: Tab): boolean {
    return comparedMs < this.lastCommitMs && this.lastCommitMs + VISIBLE_AFTER_MS < this.device.time.nowMs;
  }

  /** The leader rolls back an open transaction whose tab is gone. */
  private checkAbandoned(): void {
    const { openTransactions } = this.device;
    if (openTransactions.size > 0)
      for (const [mark, tab] of openTransactions) if (!tab.owner.isAlive) openTransactions.delete(mark);
    const isOpen = this.device.leader?.opened?.database.connection.inTransaction === true;
    if (!isOpen || openTransactions.size > 0) this.abandonedSinceMs = null;
    else if (this.abandonedSinceMs === null) this.abandonedSinceMs = this.device.time.nowMs;
    else if (this.abandonedSinceMs + ABANDONED_MS < this.device.time.nowMs) {
      this.abandonedSinceMs = null;
      this.options.onFault(`${this.device.name} has a transaction open that no tab runs`);
    }
  }

  private look(tab: Tab): void {
    tab.isDirty = false;
    if (tab.opened?.role === 'writer') this.lastCommitMs = this.device.time.nowMs;
    tab.looks++;
    if (tab.readsLater) return this.lookLater(tab);
    tab.shown = tab.run(() => shownBy(tab));
    this.checkView(tab, '');
  }

  /** A live query reruns only after a commit notice. */
  private checkShown(tab: Tab): void {
    const { lastCommitMs } = this;
    const { looks } = tab;
    tab.comparedMs = this.device.time.nowMs;
    const compare = (now: string | null): void => {
      // The tab may read a commit that is announced only later, when it is flushed or stored.
      this.device.time.after(VISIBLE_AFTER_MS, () => {
        if (!tab.isUsable) return;
        if (this.lastCommitMs !== lastCommitMs || tab.looks !== looks || tab.shown === null || tab.shown === now)
          return;
        this.options.onFault(`${tab.owner.name} shows ${tab.shown} where there is ${now}`);
      });
    };
    if (tab.readsLater) this.readLater(tab, async () => compare(await checkLater(tab, shownTo)));
    else compare(tab.run(() => shownBy(tab)));
  }

  private lookLater(tab: Tab): void {
    const { looks } = tab;
    this.readLater(tab, async () => {
      const returnsChangesets = this.returnsChangesets(this.device.leader ?? tab);
      const [shown, fault] = await checkLater(tab, (ask) => [shownTo(ask), rowsFault(ask)]);
      if (tab.looks === looks) tab.shown = shown;
      if (fault !== null) this.onViewFault(`${tab.owner.name} reads ${fault}`, returnsChangesets);
      if (tab.readsThroughLeader) this.options.tally.add('read through the leader');
    });
  }

  private readLater(tab: Tab, read: () => Promise<void>): void {
    tab.run(read).catch((thrown: unknown) => {
      const { code, message } = toRockpoolError(thrown);
      const isHonest =
        HONEST_READ_FAILURES.has(code) || this.device.isForLackOfRoom(code) || this.device.isForOtherApp(code);
      if (tab.owner.isAlive && !isHonest) this.options.onFault(`${tab.owner.name} cannot read: ${message}`);
    });
  }

  checkView(tab: Tab, when: string): void {
    const fault = tab.run(() => viewFault(tab));
    if (fault === null) return;
    // In the middle of a write, SQLite is executing a statement of the leader, and must not be called for another one.
    const asked = when === '' ? (this.device.leader ?? tab) : tab;
    this.onViewFault(
      `${tab.owner.name} sees ${when}${fault}`,
      tab.run(() => this.returnsChangesets(asked)),
    );
  }

  /**
   * A pending changeset may already have taken effect under a different site id: a device that continues as a new site
   * has sent it again to a restored server, or a copy of the device has sent a changeset that both have. Until the
   * server decides, a counter shows the additions twice.
   */
  private returnsChangesets(tab: Tab): boolean {
    const database = tab.opened?.database;
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
}
