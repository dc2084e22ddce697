import {
  decodeServerMessage,
  FIRST_LOG_HASH,
  PROTOCOL_VERSION,
  type Delivery,
  type RockpoolError,
} from '@rockpool/shared';
import type { LiveDatabase } from '../src/database/live-database.ts';
import type { Subscriber } from '../src/fanout/subscription.ts';
import { withAges } from './changeset.ts';
import type { Replica } from './replica.ts';

/** A session without a socket. It queues deliveries until the test passes them to the replica. */
export class DirectSession implements Subscriber {
  readonly replica: Replica;
  readonly deliveries: Delivery[] = [];
  failure: RockpoolError | null = null;
  hasEnded = false;
  isWelcome = false;
  /** Undefined if it joined at once. */
  readonly joining: Promise<void> | void;
  private readonly database: LiveDatabase;

  constructor(database: LiveDatabase, replica: Replica, nowMs: number) {
    this.database = database;
    this.replica = replica;
    const { siteId, databaseIdentity, logEpoch, cursor, logHashes, lastAckedSequence, changelog, hashes } =
      replica.site;
    this.joining = database.join(
      this,
      {
        type: 'hello',
        protocolVersion: PROTOCOL_VERSION,
        token: '',
        databaseId: '',
        databaseIdentity,
        schemaHash: database.file.schema.hash,
        siteId,
        logEpoch,
        cursor,
        cursorHash: logHashes.get(cursor) ?? FIRST_LOG_HASH,
        lastAckedSequence,
        decidedHash: hashes[lastAckedSequence] as Uint8Array,
        lastSequence: changelog.length,
        fullResync: false,
        snapshot: 'refused',
      },
      { principal: { id: this.site.slice(0, 4) }, canWrite: true, rows: 'everything', nowMs },
    );
  }

  get site(): string {
    return Buffer.from(this.replica.site.siteId).toString('hex');
  }

  send(bytes: Uint8Array): void {
    const message = decodeServerMessage(bytes);
    if (message.type === 'welcome') {
      this.isWelcome = true;
      this.replica.site.logEpoch = message.logEpoch;
      this.replica.site.databaseIdentity = message.databaseIdentity;
    } else if (message.type === 'delivery') this.deliveries.push(message);
  }

  fail(error: RockpoolError): void {
    this.failure = error;
    this.leave();
  }

  leave(): void {
    this.hasEnded = true;
    this.database.leave(this);
  }

  push(from: number, to: number, nowMs: number): void {
    const { changelog, hashes, clockAheadMs } = this.replica.site;
    const previousHash = hashes[from - 1];
    if (previousHash === undefined || to < from) return;
    this.database.push(
      this,
      {
        type: 'push',
        previousHash,
        olderEpochUpTo: 0,
        changesets: withAges(changelog.slice(from - 1, to), nowMs + clockAheadMs),
      },
      { principal: this.site.slice(0, 4), receivedMs: nowMs },
      (refusal) => {
        if (refusal !== null) this.fail(refusal);
      },
    );
  }

  applyOne(): void {
    const delivery = this.deliveries.shift();
    if (delivery !== undefined) this.replica.apply(delivery);
  }

  applyAll(): void {
    while (this.deliveries.length > 0) this.applyOne();
  }

  confirm(): void {
    this.database.confirm(this, this.replica.site.cursor, this.replica.site.lastAckedSequence);
  }
}

/** Resolves once every earlier push is decided: pushes wait for the end of a tick. */
export function untilCommitted(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
