import { encodeMessage, RockpoolError, type ClientMessage, type ServerMessage } from '#shared/index.ts';
import type { WriteOutcome, WriteRequest } from '#client/rpc/write-request.ts';
import { connectOver, type Connect } from '#client/worker/sync/server-connection.ts';
import {
  createSyncEngine,
  type EngineReport,
  type SyncEngine,
  type SyncEngineOptions,
} from '#client/worker/sync/sync-engine.ts';
import { webSocketTransport } from '#client/worker/sync/web-socket-transport.ts';
import { DATABASE, type TestServer } from '#sync-server/testing/test-server.ts';
import { inMemory, TestDevice, type Opened } from './test-device.ts';
import { until } from './until.ts';

export interface SocketDeviceOptions extends Partial<
  Pick<SyncEngineOptions, 'auditTimes' | 'random' | 'snapshots' | 'token'>
> {
  /** Read for each connection: a restarted server has a different port. */
  readonly server: () => TestServer;
  /** Default: an empty database in memory. */
  readonly opened?: Opened;
  /** Monotonic time. Default: the platform's. */
  readonly elapsedMs?: () => number;
}

/** A message without its content. */
export interface NotedMessage {
  readonly direction: 'sent' | 'received';
  readonly type: (ClientMessage | ServerMessage)['type'];
  /** Before framing and compression. */
  readonly sizeBytes: number;
}

/** A device with the real sync engine, which talks to a server over WebSockets. Connects on `start`. */
export class SocketDevice extends TestDevice {
  readonly problems: RockpoolError[] = [];
  readonly messages: NotedMessage[] = [];
  /** The watermarks from which the received full resyncs continue. */
  readonly fullResyncs: number[] = [];
  report: EngineReport | null = null;
  /** Used by default tokens. A viewer's pending writes are not sent. */
  role: 'editor' | 'viewer' = 'editor';
  principal = 'ann';
  /** Called before a received message is handled; false drops the message. */
  accepts: (message: ServerMessage) => boolean = () => true;
  private readonly server: () => TestServer;
  private readonly engine: SyncEngine;

  constructor({ server, opened = inMemory(), elapsedMs, ...engine }: SocketDeviceOptions) {
    super(opened, elapsedMs);
    this.server = server;
    this.engine = createSyncEngine({
      token: () => server().token(this.role, this.principal),
      ...engine,
      url: '',
      databaseId: DATABASE,
      database: this.sync,
      connect: this.connect,
      onReport: (report) => this.onReport(report),
      onStuck: () => void this.problems.push(new RockpoolError('worker-stuck')),
      onProblem: (error) => void this.problems.push(error),
    });
  }

  override request(request: Omit<WriteRequest, 'id'>): WriteOutcome {
    const outcome = super.request(request);
    this.engine.committed();
    return outcome;
  }

  start(): void {
    this.engine.start();
  }

  /** Ends the connection; `start` begins a new one. */
  stop(): void {
    this.engine.stop();
  }

  reconnect(): void {
    this.stop();
    this.start();
  }

  tryNow(): void {
    this.engine.tryNow();
  }

  /** Resolves once the condition holds. The test's deadline is the limit. */
  until(isSo: (report: EngineReport | null) => boolean): Promise<void> {
    return until(() => isSo(this.report));
  }

  upToDate(): Promise<void> {
    return this.until((report) => report?.state === 'up-to-date');
  }

  async close(): Promise<void> {
    this.stop();
    await this.opened.close();
  }

  protected onReport(report: EngineReport): void {
    this.report = report;
  }

  private readonly connect: Connect = (_, events) => {
    const socket = connectOver(webSocketTransport)(`ws://${this.server().host}/sync`, {
      ...events,
      onMessage: (message) => {
        this.note('received', message);
        if (!this.accepts(message)) return;
        if (message.type === 'delivery' && message.whole) this.fullResyncs.push(message.from);
        events.onMessage(message);
      },
    });
    return {
      ...socket,
      send: (message) => {
        this.note('sent', message);
        socket.send(message);
      },
    };
  };

  private note(direction: NotedMessage['direction'], message: ClientMessage | ServerMessage): void {
    this.messages.push({ direction, type: message.type, sizeBytes: encodeMessage(message).length });
  }
}
