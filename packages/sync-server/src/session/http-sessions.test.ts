import { ByteReader, ByteWriter, decodeServerMessage, encodeMessage, FrameAssembler, MAX_MESSAGE_BYTES, messageToFrames, PROTOCOL_VERSION, type ClientMessage, type ServerMessage } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, withAges } from '../testing/changeset.ts';
import { serverUnderTest } from '../testing/server-under-test.ts';
import { TestSite } from '../testing/test-client.ts';
import { TEST_SCHEMA } from '../testing/test-schema.ts';
import { DATABASE } from '../testing/test-server.ts';

const tested = serverUnderTest();

/** A client of the protocol over plain requests. */
class HttpClient {
  readonly site = new TestSite();
  closed: string | null = null;
  private readonly id: string;
  private readonly assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  private readonly inbox: ServerMessage[] = [];

  constructor(id: string) {
    this.id = id;
  }

  static async open(): Promise<HttpClient> {
    return new HttpClient(((await (await tested.server.ask('POST', '/sessions')).json()) as { sessionId: string }).sessionId);
  }

  async send(...messages: ClientMessage[]): Promise<void> {
    const writer = new ByteWriter();
    for (const message of messages) for (const frame of messageToFrames(encodeMessage(message))) writer.lengthPrefixed(frame);
    expect((await tested.server.ask('POST', `/sessions/${this.id}`, { body: writer.finish() })).status).toBe(204);
  }

  async hello(token: string): Promise<void> {
    const { siteId, epoch, cursor, decidedUpTo, hashes } = this.site;
    const hello = { type: 'hello', protocolVersion: PROTOCOL_VERSION, token, databaseId: DATABASE, siteId, schemaHash: TEST_SCHEMA.hash, epoch, cursor, cursorLink: new Uint8Array(16), decidedUpTo, decidedHash: hashes[0] as Uint8Array, lastSequence: 0, reload: false, snapshot: 'refused' } as const;
    await this.send(hello);
  }

  async next(): Promise<ServerMessage> {
    for (let message = this.inbox.shift(); ; message = this.inbox.shift()) {
      if (message !== undefined) return message;
      const response = await tested.server.ask('GET', `/sessions/${this.id}`);
      this.closed = response.headers.get('rockpool-close');
      const reader = new ByteReader(new Uint8Array(await response.arrayBuffer()), 'frame-invalid');
      while (reader.remaining > 0) {
        const whole = this.assembler.add(reader.lengthPrefixed().slice());
        if (whole !== null) this.inbox.push(decodeServerMessage(whole));
      }
    }
  }

  async leave(): Promise<number> {
    return (await tested.server.ask('DELETE', `/sessions/${this.id}`)).status;
  }
}

describe('a session over plain HTTP', () => {
  it('is the same session: hello, pushes, and what others write, as soon as it is there', async () => {
    const client = await HttpClient.open();
    await client.hello(await tested.server.token());
    expect(await client.next()).toMatchObject({ type: 'welcome', canWrite: true });
    expect(await client.next()).toMatchObject({ type: 'delivery', to: 0 });
    const changeset = client.site.write([insert('accounts', 'x', { name: 'x' })]);
    await client.send({ type: 'push', previousHash: client.site.hashes[0] as Uint8Array, olderEpochUpTo: 0, changesets: withAges([changeset], Date.now()) }, { type: 'ping' });
    const answers = [await client.next(), await client.next()];
    expect(answers.find(({ type }) => type === 'delivery')).toMatchObject({ outcomes: [{ kind: 'admitted', sequence: 1 }] });
    const waiting = client.next();
    const other = await tested.server.open();
    await other.commit([insert('accounts', 'y', { name: 'y' })]);
    expect(await waiting).toMatchObject({ type: 'delivery', to: 2 });
    expect(await client.leave()).toBe(204);
    expect(await client.leave()).toBe(400);
  });

  it('is refused, revoked and ended like any other', async () => {
    const stranger = await HttpClient.open();
    await stranger.hello('noise');
    expect(await stranger.next()).toMatchObject({ type: 'failure', code: 'auth-token-invalid' });
    expect(stranger.closed).toBe('4000 auth-token-invalid');
    const member = await HttpClient.open();
    await member.hello(await tested.server.token());
    await member.next();
    await member.next();
    await tested.server.sync.members.setRole(DATABASE, 'ann', null);
    expect(await member.next()).toMatchObject({ type: 'failure', code: 'auth-database-forbidden' });
  });

  it('ends by what is no frame, and nobody else notices', async () => {
    const client = await HttpClient.open();
    await client.hello(await tested.server.token());
    await client.next();
    await client.next();
    await client.send();
    const id = ((await (await tested.server.ask('POST', '/sessions')).json()) as { sessionId: string }).sessionId;
    expect((await tested.server.ask('POST', `/sessions/${id}`, { body: Uint8Array.of(200, 1, 2) })).status).toBe(400);
    expect((await tested.server.ask('POST', `/sessions/${id}`, { body: new Uint8Array(1024 * 1024 + 1) })).status).toBe(413);
    await client.send({ type: 'ping' });
    expect(await client.next()).toMatchObject({ type: 'pong' });
  });
});

describe('sessions that have ended', () => {
  it('are told of it, and those that nobody asks about are no more than a thousand', async () => {
    const first = await HttpClient.open();
    const ended = await HttpClient.open();
    for (const client of [first, ended]) await client.send({ type: 'ping' });
    expect(await ended.next()).toMatchObject({ type: 'failure', code: 'frame-unexpected' });
    for (let count = 0; count < 1_000; count++) await (await HttpClient.open()).send({ type: 'ping' });
    expect(await first.leave()).toBe(400);
    const last = await HttpClient.open();
    await last.send({ type: 'ping' });
    expect(await last.next()).toMatchObject({ type: 'failure' });
    expect(last.closed).toBe('4000 frame-unexpected');
  });
});
