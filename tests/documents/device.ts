import { openDocument } from '#client/document/open-document.ts';
import type { LiveDocument } from '#client/client.ts';
import { toStatementResult } from '#client/rpc/statement-result.ts';
import {
  decodeChangesetBody,
  decodeServerMessage,
  encodeMessage,
  PROTOCOL_VERSION,
  type Push,
  type RockpoolError,
  type Schema,
  type ServerMessage,
} from '#shared/index.ts';
import { isDocumentEdit, type JsonValue } from '#shared/document/index.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import type { SyncDatabase } from '#client/worker/sync/sync-engine.ts';
import { openInMemory } from '#client/testing/worker/test-database.ts';
import type { LiveDatabase } from '#sync-server/database/live-database.ts';
import type { Subscriber } from '#sync-server/fanout/subscription.ts';
import { EVERYTHING } from '#sync-server/store/read-filter.ts';

const NOW_MS = 1_700_000_000_000;

/** A client's database that syncs with a server's database on request, without a network. */
export class Device {
  readonly database: OpenDatabase;
  private readonly sync: SyncDatabase;
  /** It can be replaced. */
  server: LiveDatabase;
  /** The size of its messages. */
  sentBytes = 0;
  receivedBytes = 0;
  /** Every edit of a document in them. */
  readonly sentEdits: Uint8Array[] = [];
  /** Pages that have a document open. */
  private readonly followers = new Set<() => void>();
  private requests = 0;

  constructor(server: LiveDatabase, schema: Schema, siteId: Uint8Array) {
    this.server = server;
    let sites = 0;
    // Counts up, so that the same device gets a new site id each time.
    this.database = openInMemory({ schema, randomBytes: () => siteId.with(0, (siteId[0] ?? 0) + 100 * sites++) });
    this.sync = toSyncDatabase({ database: this.database, elapsedMs: () => 0, onApplied: () => undefined });
  }

  /** One transaction. Throws the error of the database. */
  write(...statements: readonly (readonly [sql: string, ...params: (string | number | null)[]])[]): void {
    this.database.write({
      id: `${this.requests++}`,
      statements: statements.map(([sql, ...params]) => ({ sql, params })),
    });
  }

  /** The same as an atomic transaction. */
  writeWhole(...statements: readonly string[]): void {
    this.database.write({
      id: `${this.requests++}`,
      statements: statements.map((sql) => ({ sql, params: [] })),
      action: { kind: 'atomic' },
    });
  }

  /** Opens a document of the first table as a page does. Rejects with `document-gone`. */
  openDocument(key: string, column: string): Promise<LiveDocument<JsonValue>> {
    const { database, followers } = this;
    const [table] = database.schema.tables;
    if (table === undefined) throw new Error('no table');
    return openDocument<JsonValue>(
      {
        read: () =>
          Promise.resolve(database.connection.value(`SELECT ${column} FROM ${table.name} WHERE id = ?`, key) ?? null),
        follow: (listener) => {
          followers.add(listener);
          return () => followers.delete(listener);
        },
        change: (changeJson) => {
          const { results } = database.write({
            id: `${this.requests++}`,
            statements: [],
            action: { kind: 'change-document', table: table.name, key: [key], column, changeJson },
          });
          const [row] = toStatementResult<{ text: string }>(results[0] as never).rows;
          return Promise.resolve(row?.text ?? '');
        },
        history: () => Promise.reject(new Error('not used here')),
        presence: { set: () => undefined, current: [], subscribe: () => () => undefined },
      },
      { table, column },
    );
  }

  /** Notifies pages of a commit. */
  tellPages(): void {
    for (const follower of this.followers) follower();
  }

  rows(sql: string): readonly (readonly unknown[])[] {
    return this.database.connection.rows(sql);
  }

  /**
   * Continues under a new site, as a device does whose file was copied: before it sent any pending changeset, or from
   * the first changeset that a restored server lacks.
   */
  becomeNewSite(firstOwn = this.database.outbox.lastAckedSequence() + 1): void {
    this.sync.becomeNewSite(firstOwn);
  }

  /** Connects, sends and receives everything, and disconnects. */
  meet(): Promise<void> {
    return this.connect({ sends: true });
  }

  /** Connects, receives everything, and disconnects before it sends anything. */
  listen(): Promise<void> {
    return this.connect({ sends: false });
  }

  private async connect({ sends }: { readonly sends: boolean }): Promise<void> {
    const inbox: ServerMessage[] = [];
    let failure: RockpoolError | null = null;
    const { server, sync } = this;
    const subscriber: Subscriber = {
      site: Buffer.from(sync.siteId).toString('hex'),
      hasEnded: false,
      send: (message) => {
        this.receivedBytes += message.length;
        inbox.push(decodeServerMessage(message));
      },
      fail: (error) => (failure = error),
    };
    const position = sync.position();
    await server.join(
      subscriber,
      {
        type: 'hello',
        protocolVersion: PROTOCOL_VERSION,
        token: '',
        databaseId: '',
        schemaHash: sync.schemaHash,
        siteId: sync.siteId,
        ...position,
        fullResync: false,
        snapshot: 'refused',
      },
      { canWrite: true, filter: EVERYTHING, principal: { id: subscriber.site, formerly: [] }, nowMs: NOW_MS },
    );
    this.takeAll(inbox);
    for (
      let sent = position.lastAckedSequence, batch = sends ? sync.nextPush(sent, 256 * 1024) : null;
      batch !== null;
      batch = sync.nextPush(sent, 256 * 1024)
    ) {
      sent = batch.changesets.at(-1)?.sequence ?? sent;
      this.sentEdits.push(...editsOf(batch));
      this.sentBytes += encodeMessage({ type: 'push', ...batch }).length;
      server.push(
        subscriber,
        { type: 'push', ...batch },
        { principal: subscriber.site, receivedMs: NOW_MS },
        (refusal) => (failure = refusal),
      );
    }
    // The server admits at the end of its tick.
    for (let tick = 0; tick < 3; tick++) await new Promise((resolve) => setImmediate(resolve));
    this.takeAll(inbox);
    server.leave(subscriber);
    if (failure !== null) throw failure as RockpoolError;
  }

  private takeAll(inbox: ServerMessage[]): void {
    for (const message of inbox.splice(0)) {
      if (message.type === 'welcome') this.sync.greet(message);
      else if (message.type === 'delivery') this.sync.applyDelivery(message);
    }
  }
}

function editsOf({ changesets }: Pick<Push, 'changesets'>): Uint8Array[] {
  return changesets
    .flatMap(({ body }) => decodeChangesetBody(body).groups)
    .flatMap(({ values }) => values.flat())
    .filter((value) => isDocumentEdit(value)) as Uint8Array[];
}
