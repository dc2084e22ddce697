import { insert } from './changeset.ts';
import { DATABASE } from './test-server.ts';
import { told } from './told.ts';
import { TestConnection, TestSite } from './test-client.ts';

/** What all clients of a load share: when each row was written, so that others can tell how long it took to them. */
export interface LoadLog {
  readonly writtenMs: Map<string, number>;
  readonly acknowledgedAfterMs: number[];
  readonly arrivedAfterMs: number[];
}

/** One device under load: it writes a row now and then, reads all the time, and keeps count of what it was told. */
export class LoadClient {
  readonly site: TestSite = new TestSite();
  /** Rows of others and how often each came. */
  readonly arrived: Map<string, number> = new Map();
  readonly refusals: string[] = [];
  private readonly url: string;
  private readonly token: string;
  private readonly name: string;
  private readonly log: LoadLog;
  private readonly sentMs = new Map<number, number>();
  private connection: TestConnection | undefined;
  private reading: Promise<void> = Promise.resolve();

  constructor(url: string, token: string, name: string, log: LoadLog) {
    this.url = url;
    this.token = token;
    this.name = name;
    this.log = log;
  }

  async connect(): Promise<void> {
    const connection = await TestConnection.connect(this.url, this.site);
    const { first } = await connection.open(this.token, DATABASE);
    this.connection = connection;
    this.take(first);
    if (this.site.changelog.length > this.site.decidedUpTo) connection.push();
    this.reading = this.read(connection);
  }

  write(): void {
    const { changelog } = this.site;
    const id = `${this.name}-${changelog.length + 1}`;
    this.log.writtenMs.set(id, performance.now());
    this.site.write([insert('accounts', id, { name: id })]);
    this.sentMs.set(changelog.length, performance.now());
    this.connection?.push(changelog.length);
  }

  /** Everything it wrote is decided, and so many rows of others have come. */
  hasAll(rowsOfOthers: number): boolean {
    return this.arrived.size >= rowsOfOthers && this.site.decidedUpTo >= this.site.changelog.length;
  }

  /** As when the network goes. */
  async cut(): Promise<void> {
    this.connection?.cut();
    await this.reading;
  }

  private async read(connection: TestConnection): Promise<void> {
    while (connection.closed === null) {
      try {
        this.take(await connection.delivery());
      } catch (thrown) {
        // A socket that was cut has no more deliveries, and one that has nothing to say is asked again.
        if (connection.closed === null && connection.unread > 0) throw thrown;
      }
    }
  }

  private take(delivery: Awaited<ReturnType<TestConnection['delivery']>>): void {
    const nowMs = performance.now();
    for (const outcome of delivery.outcomes) if (outcome.kind === 'rejected') this.refusals.push(outcome.code);
    for (const [sequence, sentMs] of this.sentMs) {
      if (sequence > delivery.decidedUpTo) break;
      this.sentMs.delete(sequence);
      this.log.acknowledgedAfterMs.push(nowMs - sentMs);
    }
    for (const { key } of told(delivery, 'accounts')) {
      const id = String(key[0]);
      this.arrived.set(id, (this.arrived.get(id) ?? 0) + 1);
      const writtenMs = this.log.writtenMs.get(id);
      if (writtenMs !== undefined) this.log.arrivedAfterMs.push(nowMs - writtenMs);
    }
  }
}
