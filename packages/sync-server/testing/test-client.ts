import { randomBytes } from 'node:crypto';
import {
  changesetHash,
  decodeServerMessage,
  encodeMessage,
  FIRST_LOG_HASH,
  FIRST_PREVIOUS_HASH,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  PROTOCOL_VERSION,
  type ChangeGroup,
  type Changeset,
  type ClientMessage,
  type Delivery,
  type EarlierSite,
  type Failure,
  type Hello,
  type CellBase,
  type Outcome,
  type ServerMessage,
  type Welcome,
} from '@rockpool/shared';
import { WebSocket } from 'ws';
import { toBody, withAges, type Change } from './changeset.ts';
import { TEST_SCHEMA } from './test-schema.ts';

// Long enough that only a hang ends a test.
const PATIENCE_MS = 5 * 60_000;

export interface WriteOptions {
  readonly base?: number;
  readonly cellBases?: readonly CellBase[];
  /** The age of the write in ms. */
  readonly ageMs?: number;
  readonly atomic?: boolean;
}

/** The state of a site across connections: its changelog and position. */
export class TestSite {
  readonly siteId: Uint8Array;
  readonly changelog: Changeset[] = [];
  readonly hashes: Uint8Array[] = [FIRST_PREVIOUS_HASH];
  databaseIdentity: Uint8Array | null = null;
  logEpoch: Uint8Array | null = null;
  cursor = 0;
  /** The log hashes of deliveries, by cursor. */
  readonly logHashes: Map<number, Uint8Array> = new Map();
  lastAckedSequence = 0;
  /** See Push. */
  earlierSites: readonly EarlierSite[] = [];
  /** How far the site's clock is ahead, in ms. */
  clockAheadMs = 0;

  constructor(siteId: Uint8Array = randomBytes(16)) {
    this.siteId = siteId;
  }

  nowMs(): number {
    return Date.now() + this.clockAheadMs;
  }

  /** Commits a changeset locally, based on the rows that the site has seen. */
  write(changes: readonly Change[], { cellBases = [], atomic = false, ...options }: WriteOptions = {}): Changeset {
    return this.writeBody(toBody(changes, cellBases, atomic), options);
  }

  writeBody(body: Uint8Array, { base = this.cursor, ageMs = 0 }: Pick<WriteOptions, 'base' | 'ageMs'> = {}): Changeset {
    const sequence = this.changelog.length + 1;
    const stampUs = Math.max((this.nowMs() - ageMs) * 1000, (this.changelog.at(-1)?.stampUs ?? 0) + 1);
    const changeset = { sequence, stampUs, base, body };
    this.changelog.push(changeset);
    this.hashes.push(changesetHash(this.hashes[sequence - 1] as Uint8Array, changeset));
    return changeset;
  }
}

/** One connection of a site. Implements only the protocol: it does not reconnect or apply deliveries by itself. */
export class TestConnection {
  readonly site: TestSite;
  private readonly socket: WebSocket;
  private readonly assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  readonly inbox: ServerMessage[] = [];
  private readonly parts: ChangeGroup[] = [];
  private waiter: (() => void) | null = null;
  private ignoredPongs = 0;
  /** Close code and reason, once the connection is closed. */
  closed: { readonly code: number; readonly reason: string } | null = null;

  private constructor(site: TestSite, socket: WebSocket) {
    this.site = site;
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      const message = this.assembler.add(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      if (message !== null) this.receive(decodeServerMessage(message));
      this.wake();
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.wake();
    });
    socket.on('error', () => undefined);
  }

  static async connect(
    url: string,
    site: TestSite = new TestSite(),
    headers: Record<string, string> = {},
    options: { readonly rejectUnauthorized?: boolean } = {},
  ): Promise<TestConnection> {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false, ...options });
    const connection = new TestConnection(site, socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return connection;
  }

  /** Tests see a delivery in parts as one delivery. */
  private receive(message: ServerMessage): void {
    if (message.type === 'pong' && this.ignoredPongs > 0) this.ignoredPongs--;
    else if (message.type === 'delivery-part') this.parts.push(...message.groups);
    else if (message.type !== 'delivery') this.inbox.push(message);
    else this.inbox.push({ ...message, groups: [...this.parts.splice(0), ...message.groups] });
  }

  get socketForAbuse(): WebSocket {
    return this.socket;
  }

  send(message: ClientMessage): void {
    this.sendMessage(encodeMessage(message));
  }

  sendMessage(bytes: Uint8Array): void {
    for (const frame of messageToFrames(bytes)) this.socket.send(frame);
  }

  hello(token: string, databaseId: string, changes: Partial<Hello> = {}): void {
    const { siteId, databaseIdentity, logEpoch, cursor, logHashes, lastAckedSequence, changelog, hashes } = this.site;
    this.send({
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token,
      databaseId,
      databaseIdentity,
      siteId,
      schemaHash: TEST_SCHEMA.hash,
      logEpoch,
      cursor,
      cursorHash: logHashes.get(changes.cursor ?? cursor) ?? FIRST_LOG_HASH,
      lastAckedSequence,
      decidedHash: hashes[lastAckedSequence] ?? FIRST_PREVIOUS_HASH,
      lastSequence: changelog.length,
      fullResync: false,
      snapshot: 'refused',
      ...changes,
    });
  }

  /** Sends the hello and reads the welcome and the first delivery. */
  async open(token: string, databaseId: string): Promise<{ welcome: Welcome; first: Delivery }> {
    this.hello(token, databaseId);
    const welcome = await this.next('welcome');
    this.site.logEpoch = welcome.logEpoch;
    this.site.databaseIdentity = welcome.databaseIdentity;
    return { welcome, first: await this.delivery() };
  }

  /** Sends changesets of the changelog, by default all undecided ones. */
  push(
    from: number = this.site.lastAckedSequence + 1,
    to: number = this.site.changelog.length,
    olderEpochUpTo: number = 0,
  ): void {
    this.sendMessage(this.pushMessage(from, to, olderEpochUpTo));
  }

  pushMessage(
    from: number = this.site.lastAckedSequence + 1,
    to: number = this.site.changelog.length,
    olderEpochUpTo: number = 0,
  ): Uint8Array {
    return encodeMessage({
      type: 'push',
      previousHash: this.site.hashes[from - 1] as Uint8Array,
      olderEpochUpTo,
      earlierSites: this.site.earlierSites,
      changesets: withAges(this.site.changelog.slice(from - 1, to), this.site.nowMs()),
    });
  }

  /** Commits locally, pushes, and waits for the outcome. */
  async commit(changes: readonly Change[], options: WriteOptions = {}): Promise<Outcome> {
    const { sequence } = this.site.write(changes, options);
    this.push(sequence);
    const { outcomes } = await this.decided(sequence);
    return outcomes.at(-1) as Outcome;
  }

  /**
   * Reads deliveries until a changeset is decided. Returns the last one, with the outcomes and the groups of all that
   * have outcomes: the server may send the outcomes of one push one by one or together.
   */
  async decided(sequence: number): Promise<Delivery> {
    const outcomes: Delivery['outcomes'][number][] = [];
    const groups: Delivery['groups'][number][] = [];
    for (;;) {
      const delivery = await this.delivery();
      outcomes.push(...delivery.outcomes);
      if (delivery.outcomes.length > 0) groups.push(...delivery.groups);
      if (delivery.lastAckedSequence >= sequence) return { ...delivery, outcomes, groups };
    }
  }

  async delivery(): Promise<Delivery> {
    const delivery = await this.next('delivery');
    if (!delivery.whole && delivery.from !== this.site.cursor)
      throw new Error(`a delivery from ${delivery.from} arrived while the cursor was ${this.site.cursor}`);
    this.site.cursor = delivery.to;
    this.site.logHashes.set(delivery.to, delivery.logHash);
    this.site.lastAckedSequence = delivery.lastAckedSequence;
    return delivery;
  }

  /** Confirms everything that has arrived. The server closes a connection that never confirms. */
  confirm(): void {
    this.send({ type: 'confirm', cursor: this.site.cursor, lastAckedSequence: this.site.lastAckedSequence });
  }

  /** Sends a ping and ignores its pong. */
  keepAlive(): void {
    this.ignoredPongs++;
    this.send({ type: 'ping' });
  }

  failure(): Promise<Failure> {
    return this.next('failure');
  }

  async next<Type extends ServerMessage['type']>(type: Type): Promise<Extract<ServerMessage, { type: Type }>> {
    await this.until(() => this.inbox.length > 0 || this.closed !== null);
    const message = this.inbox.shift();
    if (message?.type !== type)
      throw new Error(
        `expected ${type}, got ${JSON.stringify(message ?? this.closed, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`,
      );
    return message as Extract<ServerMessage, { type: Type }>;
  }

  /** Messages that have arrived and were not read yet. */
  get unread(): number {
    return this.inbox.length;
  }

  async closes(): Promise<{ readonly code: number; readonly reason: string }> {
    await this.until(() => this.closed !== null);
    return this.closed as { code: number; reason: string };
  }

  /**
   * Resolves once the server has processed everything sent before, and its responses have arrived. Pings twice: the
   * first pong may overtake a push, which waits for the end of the server's tick.
   */
  async roundTrip(): Promise<void> {
    for (let round = 0; round < 2 && this.closed === null; round++) {
      this.send({ type: 'ping' });
      await this.until(() => this.inbox.some(({ type }) => type === 'pong') || this.closed !== null);
      const at = this.inbox.findIndex(({ type }) => type === 'pong');
      if (at >= 0) this.inbox.splice(at, 1);
    }
  }

  async close(): Promise<void> {
    if (this.closed === null) this.socket.close();
    await this.closes();
  }

  /** Cuts the connection without a handshake, like a network failure. */
  cut(): void {
    this.socket.terminate();
  }

  private async until(condition: () => boolean): Promise<void> {
    const deadline = setTimeout(() => {
      this.timedOut = true;
      this.wake();
    }, PATIENCE_MS);
    try {
      while (!condition()) {
        if (this.timedOut) throw new Error('the server did not answer in time');
        await new Promise<void>((resolve) => (this.waiter = resolve));
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  private timedOut = false;

  private wake(): void {
    this.waiter?.();
    this.waiter = null;
  }
}
