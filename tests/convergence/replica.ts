import { ageOfStampUs, decodeServerMessage, encodeMessage, decodeClientMessage, PROTOCOL_VERSION, RockpoolError, type Delivery, type Hello, type Push, type ServerMessage } from '../../packages/shared/src/index.ts';
import { openDatabase, type OpenDatabase } from '../../packages/client/src/worker/database/open-database.ts';
import type { SqliteRuntime } from '../../packages/client/src/worker/sqlite/sqlite-runtime.ts';
import { toSyncDatabase } from '../../packages/client/src/worker/sync/sync-database.ts';
import type { SyncDatabase } from '../../packages/client/src/worker/sync/sync-engine.ts';
import type { LiveDatabase } from '../../packages/sync-server/src/fanout/live-database.ts';
import { budgetSchema } from './budget-schema.ts';
import type { Random } from '../simulation/random.ts';

/** What goes wrong during one exchange with the server. */
export interface Faults {
  /** The connection ends after this many messages from the server have been applied. */
  readonly cutAfter: number;
  readonly pushTwice: boolean;
  /** The server gets the push, and its answer is lost. */
  readonly loseReply: boolean;
}

export const NO_FAULTS: Faults = { cutAfter: Infinity, pushTwice: false, loseReply: false };

/** One device: the real client database, driven by hand. */
export class Replica {
  readonly database: OpenDatabase;
  private readonly sync: SyncDatabase;
  private readonly clock: { readonly ms: number };
  private readonly nowMs: () => number;
  private requests = 0;

  /** `clock` is the true time; the device's own is off by `offsetMs`. */
  constructor({ runtime, random, clock, offsetMs }: { runtime: SqliteRuntime; random: Random; clock: { readonly ms: number }; offsetMs: number }) {
    this.clock = clock;
    const nowMs = (): number => clock.ms + offsetMs;
    this.nowMs = nowMs;
    this.database = openDatabase({ runtime, path: ':memory:', role: 'writer', schema: budgetSchema, randomBytes: (count) => random.bytes(count), nowMs });
    this.sync = toSyncDatabase({ database: this.database, nowMs, onApplied: () => undefined });
  }

  get site(): string {
    return Buffer.from(this.database.siteId).toString('hex');
  }

  /** False when a constraint of this device refuses it: that is for its user to see at once. */
  write(...statements: { sql: string; params: (string | number | null | Uint8Array)[] }[]): boolean {
    try {
      this.database.write({ id: `request-${++this.requests}`, statements });
      return true;
    } catch (error) {
      if (error instanceof RockpoolError && error.code.startsWith('constraint-')) return false;
      throw error;
    }
  }

  rows(sql: string): unknown[][] {
    return this.database.connection.rows(sql);
  }

  /** One connection: welcome, deliveries, a push of everything, outcomes, a confirmation. Everything passes through bytes. */
  async exchange(server: LiveDatabase, faults: Faults): Promise<void> {
    const inbox: ServerMessage[] = [];
    let failure: RockpoolError | null = null;
    const subscriber = {
      site: this.site,
      send: (bytes: Uint8Array): void => void inbox.push(decodeServerMessage(bytes)),
      fail: (error: RockpoolError): void => {
        failure = error;
      },
    };
    const hello: Hello = {
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token: '',
      databaseId: 'budget',
      siteId: this.database.siteId,
      schemaHash: budgetSchema.hash,
      ...this.sync.position(),
    };
    let applied = 0;
    const applyInbox = (): boolean => {
      for (const message of inbox.splice(0)) {
        if (applied >= faults.cutAfter) return false;
        this.receive(message);
        applied++;
      }
      return true;
    };
    server.join(subscriber, hello, { canWrite: true, nowMs: this.clock.ms });
    try {
      const welcome = inbox[0];
      if (welcome?.type !== 'welcome' || !applyInbox()) return;
      const batch = this.sync.nextPush(welcome.decidedUpTo, Infinity);
      if (batch !== null) {
        const push = decodeClientMessage(encodeMessage({ type: 'push', previousHash: batch.previousHash, olderEpochUpTo: 0, changesets: batch.changesets.map((changeset) => ({ ...changeset, ageUs: ageOfStampUs(changeset.stampUs, this.nowMs()) })) })) as Push;
        for (let time = 0; time < (faults.pushTwice ? 2 : 1); time++) await this.send(server, subscriber, push);
        if (faults.loseReply || !applyInbox()) return;
      }
      const { cursor, decidedUpTo } = this.sync.position();
      server.confirm(subscriber, cursor, decidedUpTo);
    } finally {
      server.leave(subscriber);
    }
    if (failure !== null) throw failure;
  }

  private receive(message: ServerMessage): void {
    if (message.type === 'welcome') {
      if (this.sync.position().epoch === null) this.sync.adoptEpoch(message.epoch);
    } else if (message.type === 'delivery') this.sync.applyDelivery(message satisfies Delivery);
    else throw new Error(`unexpected ${message.type}`);
  }

  private send(server: LiveDatabase, subscriber: Parameters<LiveDatabase['push']>[0], push: Push): Promise<void> {
    return new Promise((resolve, reject) => {
      const sender = { principal: this.site.slice(0, 4), receivedMs: this.clock.ms };
      server.push(subscriber, push, sender, (refusal) => (refusal === null ? resolve() : reject(refusal)));
    });
  }
}
