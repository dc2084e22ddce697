import type { Delivery } from '@rockpool/shared';
import type { Deliveries } from './sync-state.ts';

/** A delivery that is taken this soon after the end of the previous one counts as having waited for it. */
const WAITED_MS = 0.5;

/** Waiting deliveries with more rows than this in total are passed on at once, so that writes and reads get a turn. */
const MAX_WAITING_ROWS = 1_000;

export interface WaitingDeliveriesOptions {
  readonly nowMs: () => number;
  /** Runs a task on the database now, or when the open interactive transaction has ended. */
  readonly inTurn: (job: () => void) => void;
  readonly onReady: (deliveries: Deliveries) => void;
}

/**
 * Combines deliveries that arrive faster than they are applied, because the costs of a transaction, its notices and its
 * live queries are then paid once. A delivery that arrives by itself does not wait.
 */
export class WaitingDeliveries {
  private readonly options: WaitingDeliveriesOptions;
  private waiting: Delivery[] = [];
  private waitingRows = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readyMs = Number.NEGATIVE_INFINITY;

  constructor(options: WaitingDeliveriesOptions) {
    this.options = options;
  }

  take(delivery: Delivery): void {
    this.waiting.push(delivery);
    for (const { rowCount } of delivery.groups) this.waitingRows += rowCount;
    const isAlone = this.waiting.length === 1 && this.options.nowMs() - this.readyMs >= WAITED_MS;
    if (isAlone || this.waitingRows > MAX_WAITING_ROWS) return this.release();
    // The timer fires after the messages that are queued now have been handled.
    this.timer ??= setTimeout(() => this.options.inTurn(() => this.release()), 0);
  }

  /** Forwards the waiting deliveries. Call it before handling any other message of the connection. */
  release(): void {
    const [first, ...later] = this.waiting;
    this.forget();
    if (first === undefined) return;
    this.options.onReady([first, ...later]);
    this.readyMs = this.options.nowMs();
  }

  /** Drops the deliveries of a connection that has ended. The server sends them again on the next one. */
  forget(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting = [];
    this.waitingRows = 0;
  }
}
