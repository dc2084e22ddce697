import type { OpenedDatabase } from '#client/worker/leader/opened-database.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import { firstOpening, lostWrites } from './checks.ts';
import { watchCombinedDeliveries } from './combined-deliveries.ts';
import type { Device, DeviceOptions } from './device.ts';
import { marksIn, type Promised } from './model.ts';
import type { Tab } from './tab.ts';
import { asCheck } from './work-count.ts';

/** Records what the writers of a device commit, and what its storage loses again. */
export class CommitRecord {
  private readonly device: Device;
  private readonly options: Pick<DeviceOptions, 'model' | 'writes' | 'tally' | 'onFault'>;
  /** No tab has opened the files since a power cut. */
  private hasLostPower = false;

  constructor(device: Device, options: DeviceOptions) {
    this.device = device;
    this.options = options;
  }

  onPowerLoss(): void {
    this.hasLostPower = true;
  }

  /** A writer's database, with a record of everything that it commits. */
  recorded(tab: Tab, opened: OpenedDatabase<OpenDatabase>): OpenedDatabase<OpenDatabase> {
    const { database } = opened;
    const { model, writes, onFault, tally } = this.options;
    if (!this.hasLostPower && this.device.storage.kind !== 'indexeddb') writes.onOpened(this.device.name, database);
    this.noticeLoss(tab, database);
    watchCombinedDeliveries(database, () => tally.add('deliveries applied together'));
    model.record(this.device.name, database);
    const lost =
      lostWrites(model, this.device.name, database) ??
      model.withdrawals.lost(this.device.name, database, model.dropped) ??
      firstOpening(database);
    if (lost !== null) onFault(`${tab.owner.name} after opening: ${lost}`);
    const recorded: OpenDatabase = {
      ...database,
      // The site id changes when the device continues as a new site.
      get siteId() {
        return database.siteId;
      },
      retryIfUnchanged: (sequence) => {
        const kind = { isAtomic: false, ofSequence: sequence };
        return writes.around(this.device.name, database, kind, () => database.retryIfUnchanged(sequence));
      },
      write: (request) => {
        const dropping = request.action?.kind === 'drop-rejected' ? marksIn(database, request.action.sequence) : [];
        let outcome: ReturnType<OpenDatabase['write']>;
        try {
          const kind = {
            isAtomic: request.action?.kind === 'atomic',
            ofSequence: request.action?.kind === 'retry-rejected' ? request.action.sequence : null,
          };
          outcome = writes.around(this.device.name, database, kind, () => database.write(request));
        } catch (thrown) {
          // The device may have stored the drop before it was killed.
          if (!tab.owner.isAlive) model.recordDropped(dropping);
          else writes.forgetInterrupted(this.device.name);
          throw thrown;
        }
        model.recordDropped(dropping);
        if (!tab.owner.isAlive) return outcome;
        asCheck(() => model.record(this.device.name, database));
        model.recordLocal(this.device.name, request.statements);
        if (outcome.repeated) tally.add('repeated request');
        return outcome;
      },
      begin: (options) => {
        const kind = { isAtomic: options?.atomic === true, ofSequence: null, before: writes.contentOf(database) };
        const transaction = database.begin(options);
        const commit = transaction.commit.bind(transaction);
        transaction.commit = (requestId) => {
          try {
            const outcome = writes.around(this.device.name, database, kind, () => commit(requestId));
            if (tab.owner.isAlive) asCheck(() => model.record(this.device.name, database));
            return outcome;
          } catch (thrown) {
            if (tab.owner.isAlive) writes.forgetInterrupted(this.device.name);
            throw thrown;
          }
        };
        return transaction;
      },
    };
    return { ...opened, database: recorded };
  }

  /** The medium failed to store a commit after COMMIT had returned, and has undone it. */
  onUndone(tab: Tab): void {
    this.options.tally.add('commit undone by the medium');
    const database = tab.opened?.database;
    if (database !== undefined) this.forgetLost(tab, database, { sent: true, acknowledged: true });
  }

  private noticeLoss(tab: Tab, database: OpenDatabase): void {
    const isStoredBehind = this.device.storage.kind === 'indexeddb';
    if (!this.hasLostPower && !isStoredBehind) return;
    const isFlushed = this.device.isStrict || !this.hasLostPower;
    this.forgetLost(tab, database, { sent: isFlushed || !isStoredBehind, acknowledged: isFlushed });
    this.hasLostPower = false;
    const { model, onFault } = this.options;
    for (const mark of model.marksOf.get(this.device.name) ?? [])
      if (model.refused.has(mark)) onFault(`${mark} failed for its author and took effect all the same`);
  }

  private forgetLost(tab: Tab, database: OpenDatabase, promised: Promised): void {
    const { model, writes, onFault, tally } = this.options;
    writes.forgetLost(this.device.name, database);
    const { fault, lost } = model.forgetLost(this.device.name, database, promised);
    if (fault !== null) onFault(`${tab.owner.name} after a loss: ${fault}`);
    if (this.hasLostPower) tally.add('transaction lost in a power cut', lost);
    if (!promised.acknowledged)
      tally.add('withdrawal not judged: power cut', model.withdrawals.forgetLost(this.device.name, database));
  }
}
