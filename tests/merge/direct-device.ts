import {
  decodeServerMessage,
  PROTOCOL_VERSION,
  RockpoolError,
  type Delivery,
  type Schema,
  type ServerMessage,
} from '#shared/index.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import type { SyncDatabase } from '#client/worker/sync/sync-engine.ts';
import { openInMemory } from '#client/testing/worker/test-database.ts';
import type { LiveDatabase } from '#sync-server/database/live-database.ts';
import type { Subscriber } from '#sync-server/fanout/subscription.ts';
import { EVERYTHING } from '#sync-server/store/read-filter.ts';
import { untilCommitted } from '#sync-server/testing/direct-session.ts';

/**
 * The real database of one device, connected to the real server without a network. Holds the server's messages until
 * the test delivers them to the device.
 */
export class DirectDevice implements Subscriber {
  readonly database: OpenDatabase;
  readonly sync: SyncDatabase;
  /** Of the session that is open. */
  readonly inbox: ServerMessage[] = [];
  /** Of all sessions. */
  readonly heard: Delivery[] = [];
  readonly hasEnded: boolean = false;
  private live: LiveDatabase | null = null;
  private requests = 0;
  private readonly nowMs: () => number;

  constructor(schema: Schema, nowMs: () => number, siteNumber: number) {
    this.nowMs = nowMs;
    let bytes = siteNumber * 1000;
    this.database = openInMemory({
      schema,
      nowMs,
      elapsedMs: nowMs,
      randomBytes: (count) => new Uint8Array(count).map(() => (bytes = (bytes * 73 + 41) & 0xffff) >> 4),
    });
    this.sync = toSyncDatabase({ database: this.database, elapsedMs: nowMs, onApplied: () => undefined });
  }

  get site(): string {
    return Buffer.from(this.sync.siteId).toString('hex');
  }

  get isConnected(): boolean {
    return this.live !== null;
  }

  /** Runs in one transaction. A write that SQLite refuses has no effect. */
  write(...statements: readonly string[]): void {
    try {
      this.database.write({ id: `r${++this.requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
    } catch (error) {
      if (!(error instanceof RockpoolError) || !error.code.startsWith('constraint-')) throw error;
    }
  }

  connect(live: LiveDatabase): void {
    this.live = live;
    const hello = {
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token: '',
      databaseId: '',
      siteId: this.sync.siteId,
      schemaHash: this.sync.schemaHash,
      ...this.sync.position(),
      fullResync: false,
      snapshot: 'refused',
    } as const;
    void live.join(this, hello, { principal: { id: 'ann' }, canWrite: true, filter: EVERYTHING, nowMs: this.nowMs() });
  }

  /** Loses the messages in flight. */
  cut(): void {
    this.live?.leave(this);
    this.live = null;
    this.inbox.length = 0;
  }

  send(bytes: Uint8Array): void {
    const message = decodeServerMessage(bytes);
    this.inbox.push(message);
    if (message.type === 'delivery') this.heard.push(message);
  }

  fail(error: RockpoolError): void {
    if (error.code !== 'session-replaced' && error.code !== 'epoch-changed') throw error;
    this.cut();
  }

  /** Sends the changesets after the given one, acknowledged or not. */
  push(after: number = this.sync.position().lastAckedSequence): void {
    const batch = this.sync.nextPush(after, 1e6);
    if (batch === null || this.live === null) return;
    this.live.push(this, { type: 'push', ...batch }, { principal: 'ann', receivedMs: this.nowMs() }, (refusal) => {
      if (refusal !== null) throw refusal;
    });
  }

  take(message: ServerMessage | undefined): void {
    if (message?.type === 'welcome') {
      const verdict = this.sync.greet(message);
      if (verdict.kind !== 'fits') throw new Error(`the welcome is ${verdict.kind}`);
    } else if (message?.type === 'delivery') this.sync.applyDelivery(message);
  }

  takeNext(): void {
    this.take(this.inbox.shift());
  }

  /** Runs until neither side has messages left. */
  async settle(live: LiveDatabase): Promise<void> {
    if (!this.isConnected) this.connect(live);
    do {
      while (this.inbox.length > 0) this.takeNext();
      this.push();
      await untilCommitted();
    } while (this.inbox.length > 0);
  }

  /** The whole state of a device as one string. */
  content(tables: readonly string[]): string {
    const { cursor, lastAckedSequence } = this.sync.position();
    return JSON.stringify(
      [
        cursor,
        lastAckedSequence,
        this.sync.counts(),
        ...tables.map((name) => this.rows(`SELECT * FROM ${name} ORDER BY 1, 2, 3`)),
      ],
      (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value),
    );
  }

  rows(sql: string): unknown[][] {
    return this.database.connection.rows(sql) as unknown[][];
  }

  close(): void {
    this.cut();
    this.database.close();
  }
}
