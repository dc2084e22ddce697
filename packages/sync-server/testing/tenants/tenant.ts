import { gunzipSync } from 'node:zlib';
import type { Hello } from '@rockpool/shared';
import type { FeedPosition } from '../../src/backend/change-feed.ts';
import type { ServerDatabase } from '../../src/backend/server-database.ts';
import type { ChangesetToValidate } from '../../src/admission/validate.ts';
import type { RequestOptions } from '../ask-server.ts';
import type { Change } from '../changeset.ts';
import type { RecordedPort } from '../recorded-port.ts';
import { type TestConnection, TestSite } from '../test-client.ts';
import { TEST_SCHEMA } from '../test-schema.ts';
import type { TestServer } from '../test-server.ts';
import { canaryDatabaseId, canaryId, canaryText } from './canary.ts';
import { asText, type CanaryWatch } from './canary-watch.ts';

/** The decision of an app's rule about the next changeset. */
export type Verdict = 'admit' | 'refuse' | 'fail';

const TOKEN_MS = 3_600_000;

export function snapshotPath(databaseId: string): string {
  return `/databases/${databaseId}/snapshot?schema=${TEST_SCHEMA.hash}`;
}

/**
 * One tenant of a server: a database, an owner with some devices, and the host program, each with its own recorded
 * port.
 */
export class Tenant {
  readonly server: TestServer;
  readonly watch: CanaryWatch;
  readonly number: number;
  readonly databaseId: string;
  readonly backend: ServerDatabase;
  readonly token: string;
  /** The device that writes. It reconnects when the app's rule has ended its session. */
  writer: TestConnection;
  verdict: Verdict = 'admit';
  /** The position in the feed. */
  position: FeedPosition | null = null;
  private readonly sockets: RecordedPort;
  private readonly http: RecordedPort;
  /** Two of its devices, which see each other in presence. */
  private readonly showing: TestConnection[] = [];
  private readonly left = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private sites = 0;
  private rows = 0;

  private constructor(
    server: TestServer,
    watch: CanaryWatch,
    number: number,
    ports: { readonly sockets: RecordedPort; readonly http: RecordedPort },
    token: string,
    writer: TestConnection,
  ) {
    this.server = server;
    this.watch = watch;
    this.number = number;
    this.databaseId = canaryDatabaseId(number);
    this.backend = server.sync.database(this.databaseId);
    this.sockets = ports.sockets;
    this.http = ports.http;
    this.token = token;
    this.writer = writer;
  }

  /** `server` and `elsewhere` are instances of one server, possibly the same one. */
  static async enter(server: TestServer, elsewhere: TestServer, watch: CanaryWatch, number: number): Promise<Tenant> {
    const [sockets, http] = [await server.openRecordedPort(), await elsewhere.openRecordedPort()];
    const token = await server.sync.issueToken({
      principal: canaryText(number, 'owner'),
      name: canaryText(number, 'name'),
      databases: [canaryDatabaseId(number)],
      role: 'owner',
      ttlMs: TOKEN_MS,
    });
    const writer = await sockets.connect(new TestSite(canaryId(number, 0)));
    const tenant = new Tenant(server, watch, number, { sockets, http }, token, writer);
    await writer.open(token, tenant.databaseId);
    for (const door of [sockets, http]) {
      const device = await door.connect(tenant.newSite());
      await device.open(token, tenant.databaseId);
      tenant.showing.push(device);
    }
    tenant.following = tenant.follow();
    return tenant;
  }

  text(what: string | number): string {
    return canaryText(this.number, what);
  }

  /** A key that no row has had. */
  newKey(): string {
    return this.text(`row-${++this.rows}`);
  }

  newSite(): TestSite {
    return new TestSite(canaryId(this.number, ++this.sites));
  }

  connect(site: TestSite = this.newSite()): Promise<TestConnection> {
    return this.sockets.connect(site);
  }

  async listen(site: TestSite = this.newSite()): Promise<TestConnection> {
    const connection = await this.connect(site);
    await connection.open(this.token, this.databaseId);
    return connection;
  }

  /** The server's response to a hello that it refuses, with every byte that a client can see. */
  async refusedHello(
    databaseId: string,
    site: TestSite = this.newSite(),
    hello: Partial<Hello> = {},
  ): Promise<unknown> {
    const connection = await this.connect(site);
    connection.hello(this.token, databaseId, hello);
    const failure = await connection.failure();
    this.watch.lookAtError(asText(failure), this.number);
    return { failure, closed: await connection.closes() };
  }

  /**
   * Writes like a device that has seen nothing, so that all earlier writes are concurrent and lost values go to the
   * conflict log.
   */
  async write(...changes: Change[]): Promise<void> {
    const outcome = await this.writer.commit(changes, { base: 0 });
    // The reason contains a canary of the tenant.
    if (outcome.kind === 'rejected' && outcome.code !== 'changeset-refused')
      this.watch.lookAtError(asText(outcome.fields), this.number);
  }

  /** Makes the app's rule end the session of the next push, and no other session. */
  async writeWhileTheRuleFails(change: Change): Promise<void> {
    const { site } = this.writer;
    this.verdict = 'fail';
    const { sequence } = site.write([change], { base: 0 });
    this.writer.push(sequence);
    await this.writer.closes();
    this.watch.lookAtError(asText(this.writer.inbox.find(({ type }) => type === 'failure')), this.number);
    this.writer = await this.listen(site);
    if (site.lastAckedSequence < sequence) {
      this.writer.push();
      await this.writer.decided(sequence);
    }
  }

  ask(method: string, path: string, request: RequestOptions = {}): Promise<Response> {
    return this.http.ask(method, path, { token: this.token, ...request });
  }

  /** Like `ask`, for a request that must fail. */
  async refusedRequest(
    method: string,
    path: string,
    request: RequestOptions = {},
  ): Promise<{ readonly status: number; readonly body: string }> {
    const response = await this.ask(method, path, request);
    const body = await response.text();
    this.watch.lookAtError(body, this.number);
    return { status: response.status, body };
  }

  /** Returns the ETag for range requests of the file, or null if there is no snapshot yet. */
  async takeSnapshot(headers: Readonly<Record<string, string>> = {}): Promise<string | null> {
    const response = await this.ask('GET', snapshotPath(this.databaseId), { headers });
    const packed = await response.arrayBuffer();
    if (packed.byteLength > 0) this.watch.look('snapshot', gunzipSync(packed), this.number);
    return response.headers.get('etag');
  }

  async show(tab: number): Promise<void> {
    const stateJson = JSON.stringify({ [this.text('topic')]: this.text(tab) });
    for (const device of this.showing) {
      device.send({
        type: 'presence',
        states: [{ tabId: canaryId(this.number, tab), topic: this.text(tab), stateJson }],
      });
      await device.roundTrip();
    }
  }

  /** The app's rule for changesets of this tenant. `verdict` decides about the next one; later ones are admitted. */
  judge(changeset: ChangesetToValidate): string | null {
    this.watch.look('rule', asText(changeset), this.number);
    const { verdict } = this;
    this.verdict = 'admit';
    if (verdict === 'fail') throw new Error(this.text('detail of a rule'));
    return verdict === 'refuse' ? this.text('reason of a rule') : null;
  }

  /** Searches the bytes sent to this tenant since the last call. */
  async look(): Promise<void> {
    for (const device of [this.writer, ...this.showing]) await device.roundTrip();
    this.watch.look('sockets', this.sockets.take(), this.number);
    this.watch.look('HTTP', this.http.take(), this.number);
  }

  async leave(): Promise<void> {
    this.left.abort();
    await this.following;
    for (const device of [this.writer, ...this.showing]) await device.close();
    await this.look();
    await Promise.all([this.sockets.close(), this.http.close()]);
  }

  private async follow(): Promise<void> {
    for await (const change of this.backend.changes({ signal: this.left.signal })) {
      this.watch.look('feed', asText(change), this.number);
      this.position = change;
    }
  }
}
