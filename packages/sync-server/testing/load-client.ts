import { PING_INTERVAL_MS } from '@rockpool/shared';
import { insert } from './changeset.ts';
import { deliveredRows } from './delivered-rows.ts';
import { TestConnection, TestSite } from './test-client.ts';

/**
 * State that the clients of one database share under load: when each row was written. Receivers compute the delay from
 * it.
 */
export interface LoadLog {
  readonly writtenMs: Map<string, number>;
  readonly acknowledgedAfterMs: number[];
  readonly arrivedAfterMs: number[];
}

export interface LoadClientOptions {
  readonly url: string;
  readonly token: string;
  readonly databaseId: string;
  /** Prefix of the names of its rows. */
  readonly name: string;
  readonly log: LoadLog;
}

/** Delay before deliveries are confirmed, as in the SDK's client. */
const CONFIRM_DELAY_MS = 1_000;

/** The longest time in which no row arrives, after which rows count as lost. Even a busy machine is faster. */
const SILENCE_MS = 60_000;

/**
 * One device under load: it writes a row from time to time, reads and confirms continuously, and counts what it
 * receives.
 */
export class LoadClient {
  readonly site: TestSite = new TestSite();
  /** Rows of other devices, with the number of times each arrived. */
  readonly arrived: Map<string, number> = new Map();
  readonly refusals: string[] = [];
  private readonly options: LoadClientOptions;
  private readonly sentMs = new Map<number, number>();
  private connection: TestConnection | undefined;
  private reading: Promise<void> = Promise.resolve();

  constructor(options: LoadClientOptions) {
    this.options = options;
  }

  async connect(): Promise<void> {
    const { url, token, databaseId } = this.options;
    const connection = await TestConnection.connect(url, this.site);
    const { first } = await connection.open(token, databaseId);
    this.connection = connection;
    this.take(first);
    if (this.site.changelog.length > this.site.lastAckedSequence) connection.push();
    this.reading = this.read(connection);
  }

  write(): void {
    const { changelog } = this.site;
    const id = `${this.options.name}-${changelog.length + 1}`;
    this.options.log.writtenMs.set(id, performance.now());
    this.site.write([insert('accounts', id, { name: id })]);
    this.sentMs.set(changelog.length, performance.now());
    this.connection?.push(changelog.length);
  }

  /** Whether all its writes are decided and every row of the others has arrived. */
  get isComplete(): boolean {
    const { changelog, lastAckedSequence } = this.site;
    return (
      lastAckedSequence >= changelog.length && this.arrived.size >= this.options.log.writtenMs.size - changelog.length
    );
  }

  /** Cuts the connection without a handshake, like a network failure. */
  async cut(): Promise<void> {
    this.connection?.cut();
    await this.reading;
  }

  private async read(connection: TestConnection): Promise<void> {
    const answering = this.answer(connection);
    while (connection.closed === null) {
      try {
        this.take(await connection.delivery());
      } catch (thrown) {
        // A closed socket gets no more deliveries; an idle one is read again.
        if (connection.closed === null && connection.unread > 0) throw thrown;
      }
    }
    clearInterval(answering);
  }

  private answer(connection: TestConnection): NodeJS.Timeout {
    let confirmed = this.site.cursor;
    let saidMs = performance.now();
    return setInterval(() => {
      const nowMs = performance.now();
      if (this.site.cursor > confirmed) connection.confirm();
      else if (nowMs - saidMs >= PING_INTERVAL_MS) connection.keepAlive();
      else return;
      confirmed = this.site.cursor;
      saidMs = nowMs;
    }, CONFIRM_DELAY_MS);
  }

  private take(delivery: Awaited<ReturnType<TestConnection['delivery']>>): void {
    const nowMs = performance.now();
    const { acknowledgedAfterMs, arrivedAfterMs, writtenMs } = this.options.log;
    for (const outcome of delivery.outcomes) if (outcome.kind === 'rejected') this.refusals.push(outcome.code);
    for (const [sequence, sentMs] of this.sentMs) {
      if (sequence > delivery.lastAckedSequence) break;
      this.sentMs.delete(sequence);
      acknowledgedAfterMs.push(nowMs - sentMs);
    }
    for (const { key } of deliveredRows(delivery, 'accounts')) {
      const id = String(key[0]);
      this.arrived.set(id, (this.arrived.get(id) ?? 0) + 1);
      const rowWrittenMs = writtenMs.get(id);
      if (rowWrittenMs !== undefined) arrivedAfterMs.push(nowMs - rowWrittenMs);
    }
  }
}

/** Waits until each client has every row, and returns the time that took. */
export async function untilAllArrived(clients: readonly LoadClient[]): Promise<number> {
  const startMs = performance.now();
  let arrivedMs = startMs;
  let arrived = 0;
  while (!clients.every(({ isComplete }) => isComplete)) {
    const before = arrived;
    arrived = clients.reduce((sum, client) => sum + client.arrived.size, 0);
    if (arrived > before) arrivedMs = performance.now();
    if (performance.now() - arrivedMs > SILENCE_MS) throw new Error('some rows did not arrive');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return performance.now() - startMs;
}

/** The median and the 99th percentile. */
export function summary(valuesMs: readonly number[]): string {
  const sorted = Float64Array.from(valuesMs).sort();
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1);
  return `${at(0.5)} ms (p50), ${at(0.99)} ms (p99)`;
}
