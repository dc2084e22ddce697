import {
  decodeServerMessage,
  PROTOCOL_VERSION,
  RockpoolError,
  type Delivery,
  type Push,
  type Schema,
  type ServerMessage,
} from '#shared/index.ts';
import type { OpenDatabaseOptions } from '#client/worker/database/open-database.ts';
import type { WelcomeVerdict } from '#client/worker/sync/judge-welcome.ts';
import type { LiveDatabase } from '#sync-server/database/live-database.ts';
import type { Subscriber } from '#sync-server/fanout/subscription.ts';
import { untilCommitted } from '#sync-server/testing/direct-session.ts';
import { inMemory, TestDevice } from './test-device.ts';

/**
 * A device that reaches a server's database without a network. Holds the server's messages until the test delivers them
 * to the device. Deterministic: its clock, random bytes and request ids repeat in each run.
 */
export class DirectDevice extends TestDevice implements Subscriber {
  /** The messages of the open session. */
  readonly inbox: ServerMessage[] = [];
  /** The deliveries of all sessions. */
  readonly heard: Delivery[] = [];
  readonly hasEnded: boolean = false;
  /** Settles once the server has accepted the session. */
  protected joined: Promise<void> | void = undefined;
  private live: LiveDatabase | null = null;
  private requests = 0;
  private readonly nowMs: () => number;

  constructor(schema: Schema, nowMs: () => number, randomBytes: number | OpenDatabaseOptions['randomBytes']) {
    super(
      inMemory({
        schema,
        nowMs,
        elapsedMs: nowMs,
        randomBytes: typeof randomBytes === 'number' ? bytesOfSite(randomBytes) : randomBytes,
      }),
      nowMs,
    );
    this.nowMs = nowMs;
  }

  get site(): string {
    return Buffer.from(this.sync.siteId).toString('hex');
  }

  get isConnected(): boolean {
    return this.live !== null;
  }

  /** Like `writeAll`, but does nothing if the write violates a constraint. */
  attempt(...statements: readonly string[]): void {
    try {
      this.writeAll(...statements);
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
    const principal = { id: this.principal };
    this.joined = live.join(this, hello, { principal, canWrite: true, rows: 'everything', nowMs: this.nowMs() });
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

  /** Sends changesets after the given one, acknowledged or not. Returns the message; null if there are none. */
  push(after: number = this.sync.position().lastAckedSequence, maxBytes = 1e6): Push | null {
    const batch = this.sync.nextPush(after, maxBytes);
    if (batch === null || this.live === null) return null;
    const push = { type: 'push', ...batch } as const;
    this.live.push(this, push, { principal: this.principal, receivedMs: this.nowMs() }, (refusal) => {
      if (refusal !== null) this.refused(refusal);
    });
    return push;
  }

  take(message: ServerMessage | undefined): void {
    if (message?.type === 'welcome') this.greeted(this.sync.greet(message));
    else if (message?.type === 'delivery') this.sync.applyDeliveries([message]);
  }

  takeNext(): void {
    this.take(this.inbox.shift());
  }

  takeAll(): void {
    while (this.inbox.length > 0) this.takeNext();
  }

  /** Runs until neither side has messages left. */
  async settle(live: LiveDatabase): Promise<void> {
    if (!this.isConnected) this.connect(live);
    do {
      this.takeAll();
      this.push();
      await untilCommitted();
    } while (this.inbox.length > 0);
  }

  /** The content of a device as one string. */
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

  close(): void {
    this.cut();
    this.database.close();
  }

  protected get principal(): string {
    return 'ann';
  }

  protected greeted(verdict: WelcomeVerdict): void {
    if (verdict.kind !== 'fits') throw new Error(`the device does not accept the welcome: ${verdict.kind}`);
  }

  protected refused(refusal: RockpoolError): void {
    throw refusal;
  }

  protected override requestId(): string {
    return `r${++this.requests}`;
  }
}

function bytesOfSite(siteNumber: number): OpenDatabaseOptions['randomBytes'] {
  let bytes = siteNumber * 1000;
  return (count) => new Uint8Array(count).map(() => (bytes = (bytes * 73 + 41) & 0xffff) >> 4);
}
