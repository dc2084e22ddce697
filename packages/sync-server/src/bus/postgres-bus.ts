import type { PoolClient } from 'pg';
import { RockpoolError } from '@rockpool/shared';
import type { Connections } from '../postgres/connection.ts';
import type { Bus, BusMessage, BusState, BusTopic } from './bus.ts';
import { readBusMessage } from './bus-message.ts';
import { InProcessBus } from './in-process-bus.ts';

const CHANNEL = 'rockpool';

/** Delay after a connection was lost. Messages published meanwhile are lost too; see Bus. */
const RECONNECT_DELAY_MS = 500;

/** A listening connection whose probe is not answered is given up after 10 to 15 s, like one to NATS. */
const PROBE_INTERVAL_MS = 5_000;
const UNANSWERED_INTERVALS = 2;

/**
 * A bus over LISTEN and NOTIFY. A message is sent after the commit that it announces, in a separate transaction: NOTIFY
 * holds a lock on the whole PostgreSQL database until its COMMIT, so inside a transaction that waits for the disk, only
 * one database could commit at a time.
 */
export class PostgresBus implements Bus {
  private readonly connections: Connections;
  private readonly onError: (error: unknown) => void;
  private readonly probeIntervalMs: number;
  private readonly local = new InProcessBus();
  private listening: PoolClient | null = null;
  private queue: BusMessage[] = [];
  private isSending = false;
  private isClosed = false;
  private reconnect: NodeJS.Timeout | null = null;
  private nextProbe: NodeJS.Timeout | null = null;
  // Messages are missed until LISTEN has succeeded.
  private isListening = false;
  // The process of PostgreSQL that served the last probe. Null before the first one.
  private backend: unknown = null;
  private listens = 0;
  private lost = 0;

  constructor(
    connections: Connections,
    onError: (error: unknown) => void,
    probeIntervalMs: number = PROBE_INTERVAL_MS,
  ) {
    this.connections = connections;
    this.onError = onError;
    this.probeIntervalMs = probeIntervalMs;
    void this.listen();
  }

  publish(message: BusMessage): void {
    this.queue.push(message);
    void this.send();
  }

  subscribe(topic: BusTopic, listener: (message: BusMessage) => void): () => void {
    return this.local.subscribe(topic, listener);
  }

  get state(): BusState {
    return { isConnected: this.isListening, reconnects: Math.max(0, this.listens - 1), lost: this.lost };
  }

  /** Resolves at once: if PostgreSQL cannot be used, the store reports it. */
  ready(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.reconnect !== null) clearTimeout(this.reconnect);
    if (this.nextProbe !== null) clearTimeout(this.nextProbe);
    const { listening } = this;
    this.listening = null;
    this.isListening = false;
    listening?.release(true);
    await this.local.close();
  }

  /** Sends all queued messages in one statement. */
  private async send(): Promise<void> {
    if (this.isSending || this.queue.length === 0) return;
    this.isSending = true;
    const messages = this.queue.splice(0).map((message) => JSON.stringify(message));
    try {
      // A lost message does no harm, so the transaction does not wait for the disk.
      const [[, , backend] = []] = await this.connections.poll(
        `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', message), pg_backend_pid() FROM unnest($1::text[]) AS message`,
        [messages],
      );
      this.requireOwnBackend(backend);
    } catch (error) {
      this.lost += messages.length;
      this.onError(error);
    }
    this.isSending = false;
    void this.send();
  }

  private async listen(): Promise<void> {
    try {
      const client = await this.connections.connect();
      // Several events can report the same loss. One connection listens at a time, and a connection that does not
      // listen is closed.
      const onLost = (error: unknown): void => this.lose(client, error);
      client.on('error', onLost);
      client.on('end', () => onLost(new Error('the connection to PostgreSQL ended')));
      client.on('notification', ({ payload }) => this.onNotification(payload));
      if (this.isClosed) return client.release(true);
      this.listening = client;
      await this.ask(client, `LISTEN ${CHANNEL}`).then(() => this.onListening(client), onLost);
    } catch (error) {
      this.listenLater(error);
    }
  }

  private lose(client: PoolClient, error: unknown): void {
    if (this.listening !== client) return;
    this.listening = null;
    this.isListening = false;
    this.backend = null;
    if (this.nextProbe !== null) clearTimeout(this.nextProbe);
    client.release(true);
    this.listenLater(error);
  }

  /**
   * `backend` has served another connection. If it also serves the listening one, a pooler shares processes of
   * PostgreSQL between connections, and notifications do not arrive.
   */
  private requireOwnBackend(backend: unknown): void {
    if (this.listening === null || this.backend === null || backend !== this.backend) return;
    const problems = 'the pooler in front of PostgreSQL must pool by session, because instances use LISTEN';
    this.lose(this.listening, new RockpoolError('config-invalid', { count: 1, problems }));
  }

  private onListening(client: PoolClient): void {
    // The connection may have been lost or closed meanwhile.
    if (this.listening !== client) return;
    this.isListening = true;
    this.listens++;
    this.probeLater(client);
  }

  /**
   * A listener sends nothing, so the operating system reports no error if the network or the machine of PostgreSQL has
   * failed. Each probe is sent once the previous one is answered.
   */
  private probeLater(client: PoolClient): void {
    if (this.listening !== client) return;
    this.nextProbe = setTimeout(() => void this.probe(client), this.probeIntervalMs);
    this.nextProbe.unref();
  }

  private async probe(client: PoolClient): Promise<void> {
    try {
      const backend = await this.ask(client, 'SELECT pg_backend_pid()');
      if (this.listening === client) this.backend = backend;
      this.probeLater(client);
    } catch (error) {
      this.lose(client, error);
    }
  }

  /**
   * Returns the value that the statement selects. Rejects without an answer in time. The other statements of the pool
   * may take longer: see Connections.
   */
  private async ask(client: PoolClient, sql: string): Promise<unknown> {
    // The driver takes this setting of a pool also for one statement, which its types omit.
    const query_timeout = UNANSWERED_INTERVALS * this.probeIntervalMs;
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array', ...{ query_timeout } });
    return rows[0]?.[0];
  }

  private listenLater(error: unknown): void {
    if (this.isClosed) return;
    this.onError(error);
    this.reconnect = setTimeout(() => void this.listen(), RECONNECT_DELAY_MS);
    this.reconnect.unref();
  }

  private onNotification(payload: string | undefined): void {
    const message = readBusMessage(payload ?? '');
    if (message === null) this.onError(new Error('received a notification that no instance sent'));
    else this.local.publish(message);
  }
}
