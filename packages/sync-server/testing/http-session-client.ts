import {
  ByteReader,
  ByteWriter,
  decodeServerMessage,
  encodeMessage,
  FIRST_LOG_HASH,
  FIRST_PREVIOUS_HASH,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  PROTOCOL_VERSION,
  type ClientMessage,
  type ServerMessage,
} from '@rockpool/shared';
import type { Ask } from './ask-server.ts';
import { TestSite } from './test-client.ts';
import { TEST_SCHEMA } from './test-schema.ts';

/** A client of the protocol over plain HTTP requests. */
export class HttpSessionClient {
  readonly site: TestSite;
  /** Close code and reason, once the session has ended. */
  closed: string | null = null;
  readonly id: string;
  private readonly ask: Ask;
  private readonly assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  private readonly inbox: ServerMessage[] = [];
  private received = 0;

  private constructor(ask: Ask, id: string, site: TestSite) {
    this.ask = ask;
    this.id = id;
    this.site = site;
  }

  static async open(ask: Ask, site: TestSite = new TestSite()): Promise<HttpSessionClient> {
    return new HttpSessionClient(
      ask,
      ((await (await ask('POST', '/sessions')).json()) as { sessionId: string }).sessionId,
      site,
    );
  }

  async send(...messages: ClientMessage[]): Promise<void> {
    const writer = new ByteWriter();
    for (const message of messages)
      for (const frame of messageToFrames(encodeMessage(message))) writer.lengthPrefixed(frame);
    const { status } = await this.ask('POST', `/sessions/${this.id}`, {
      body: writer.finish() as Uint8Array<ArrayBuffer>,
    });
    if (status !== 204) throw new Error(`the server answered frames with status ${status}`);
  }

  hello(token: string, databaseId: string): Promise<void> {
    const { siteId, databaseIdentity, logEpoch, cursor, lastAckedSequence } = this.site;
    return this.send({
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token,
      databaseId,
      databaseIdentity,
      siteId,
      schemaHash: TEST_SCHEMA.hash,
      logEpoch,
      cursor,
      cursorHash: FIRST_LOG_HASH,
      lastAckedSequence,
      decidedHash: FIRST_PREVIOUS_HASH,
      lastSequence: 0,
      fullResync: false,
      snapshot: 'refused',
    });
  }

  /** Waits for the next frame, as long as the server lets a request wait. */
  async next(): Promise<ServerMessage> {
    for (let message = this.inbox.shift(); ; message = this.inbox.shift()) {
      if (message !== undefined) return message;
      const response = await this.ask('GET', `/sessions/${this.id}?received=${this.received}`);
      this.closed = response.headers.get('rockpool-close');
      const reader = new ByteReader(new Uint8Array(await response.arrayBuffer()), 'frame-invalid');
      while (reader.remaining > 0) {
        this.received++;
        const whole = this.assembler.add(reader.lengthPrefixed().slice());
        if (whole !== null) this.inbox.push(decodeServerMessage(whole));
      }
    }
  }

  async leave(): Promise<number> {
    return (await this.ask('DELETE', `/sessions/${this.id}`)).status;
  }
}
