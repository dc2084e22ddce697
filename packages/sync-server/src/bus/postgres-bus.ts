import type { PoolClient } from 'pg';
import type { Connections } from '../postgres/connection.ts';
import type { Bus, BusMessage } from './bus.ts';
import { InProcessBus } from './in-process-bus.ts';

const CHANNEL = 'rockpool';

/** After a connection was lost. What is published meanwhile is lost too; see Bus. */
const RECONNECT_DELAY_MS = 500;

/**
 * By LISTEN and NOTIFY. Messages go out after the commits that they tell of, in transactions of their own: NOTIFY takes
 * a lock of the whole PostgreSQL database until its COMMIT, and in a transaction that waits for a disk no two databases
 * could commit at once.
 */
export class PostgresBus implements Bus {
  private readonly connections: Connections;
  private readonly onError: (error: unknown) => void;
  private readonly local = new InProcessBus();
  private listening: PoolClient | null = null;
  private waiting: BusMessage[] = [];
  private isSending = false;
  private isClosed = false;
  private reconnect: NodeJS.Timeout | null = null;

  constructor(connections: Connections, onError: (error: unknown) => void) {
    this.connections = connections;
    this.onError = onError;
    void this.listen();
  }

  publish(message: BusMessage): void {
    this.waiting.push(message);
    void this.send();
  }

  subscribe(listener: (message: BusMessage) => void): () => void {
    return this.local.subscribe(listener);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.reconnect !== null) clearTimeout(this.reconnect);
    const { listening } = this;
    this.listening = null;
    listening?.release(true);
    await this.local.close();
  }

  /** What has gathered while the last ones were on their way goes together. */
  private async send(): Promise<void> {
    if (this.isSending || this.waiting.length === 0) return;
    this.isSending = true;
    const messages = this.waiting.splice(0).map((message) => JSON.stringify(message));
    try {
      // Nothing is lost with a message that is: it waits for no disk.
      await this.connections.query(
        `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', message) FROM unnest($1::text[]) AS message`,
        [messages],
      );
    } catch (error) {
      this.onError(error);
    }
    this.isSending = false;
    void this.send();
  }

  private async listen(): Promise<void> {
    try {
      const client = await this.connections.connect();
      // However many ways tell of it: one connection listens, and none is kept that does not.
      const lost = (error: unknown): void => {
        if (this.listening !== client) return;
        this.listening = null;
        client.release(true);
        this.listenLater(error);
      };
      client.on('error', lost);
      client.on('end', () => lost(new Error('the connection ended')));
      client.on('notification', ({ payload }) => this.heard(payload));
      if (this.isClosed) return client.release(true);
      this.listening = client;
      await client.query(`LISTEN ${CHANNEL}`).catch(lost);
    } catch (error) {
      this.listenLater(error);
    }
  }

  private listenLater(error: unknown): void {
    if (this.isClosed) return;
    this.onError(error);
    this.reconnect = setTimeout(() => void this.listen(), RECONNECT_DELAY_MS);
    this.reconnect.unref();
  }

  private heard(payload: string | undefined): void {
    try {
      this.local.publish(JSON.parse(payload ?? '') as BusMessage);
    } catch (error) {
      // Anybody with access to PostgreSQL can send on the channel.
      this.onError(error);
    }
  }
}
