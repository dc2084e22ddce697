import type { ConnectionOptions, NatsConnection, Status, Subscription } from '@nats-io/transport-node';
import { RockpoolError } from '@rockpool/shared';
import type { Bus, BusMessage, BusState, BusTopic } from './bus.ts';
import { readBusMessage, topicKey, topicOf } from './bus-message.ts';
import { InProcessBus } from './in-process-bus.ts';

/** Where a NATS server is, as plain data, so that it can be sent to a thread. */
export interface NatsOptions {
  /** `nats://` or `tls://` URLs of servers of one cluster, with a user and password, or a token as the user. */
  readonly servers: readonly string[];
  /** The content of a credentials file, which NATS calls `.creds`. */
  readonly credentials?: string | undefined;
}

/**
 * Delay after a lost connection, plus a random part of the same length, so that instances do not all reconnect at once.
 */
const RECONNECT_DELAY_MS = 500;

/** A connection whose pings are not answered is given up after 10 to 15 s. */
const PING_INTERVAL_MS = 5_000;
const UNANSWERED_PINGS = 2;

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A bus over the core messages of NATS: no streams, nothing is stored. Each topic is a subject, and an instance
 * subscribes to the subjects of the databases that it has open, so it receives no messages about the others.
 */
export class NatsBus implements Bus {
  private readonly options: NatsOptions;
  private readonly pingIntervalMs: number;
  private readonly onError: (error: unknown) => void;
  private readonly local = new InProcessBus();
  // The keys of topics with listeners. A later connection subscribes to them.
  private readonly topics = new Set<string>();
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly storeId: () => Promise<string>;
  private readonly started: Promise<void>;
  private prefix = '';
  private connection: NatsConnection | null = null;
  private isConnected = false;
  private reconnects = 0;
  private lost = 0;
  private isClosed = false;
  private retry: NodeJS.Timeout | null = null;

  /**
   * `storeId` separates servers that share a NATS server, so that their subjects need no configuration. It is called in
   * each attempt to connect until one succeeds.
   */
  constructor(
    options: NatsOptions,
    storeId: () => Promise<string>,
    onError: (error: unknown) => void,
    pingIntervalMs: number = PING_INTERVAL_MS,
  ) {
    this.options = options;
    this.pingIntervalMs = pingIntervalMs;
    this.onError = onError;
    this.storeId = storeId;
    this.started = this.connect();
    this.started.catch(() => undefined); // Callers of `ready` receive the rejection.
  }

  get state(): BusState {
    const { isConnected, reconnects, lost } = this;
    return { isConnected, reconnects, lost };
  }

  ready(): Promise<void> {
    return this.started;
  }

  /** A message is dropped if there is no connection: sent later, it would only repeat what polling has found. */
  publish(message: BusMessage): void {
    try {
      if (this.connection === null || !this.isConnected) this.lost++;
      else this.connection.publish(this.subject(topicKey(topicOf(message))), JSON.stringify(message));
    } catch (error) {
      this.lost++;
      this.onError(error);
    }
  }

  subscribe(topic: BusTopic, listener: (message: BusMessage) => void): () => void {
    const stop = this.local.subscribe(topic, listener);
    const key = topicKey(topic);
    this.topics.add(key);
    this.listenTo(key);
    return () => {
      stop();
      if (this.local.hasListeners(topic)) return;
      this.topics.delete(key);
      this.subscriptions.get(key)?.unsubscribe();
      this.subscriptions.delete(key);
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.isConnected = false;
    if (this.retry !== null) clearTimeout(this.retry);
    await this.started.catch(() => undefined);
    await this.connection?.close();
    await this.local.close();
  }

  /** `members` cannot collide with a database: database subjects have `database` in front. */
  private subject(key: string): string {
    return key === '*' ? `${this.prefix}.members` : `${this.prefix}.database.${key}`;
  }

  /** The client reconnects by itself, but only after its first connection. */
  private async connect(): Promise<void> {
    if (this.isClosed) return;
    try {
      const { connect } = await import('@nats-io/transport-node');
      this.prefix = `rockpool.${await this.storeId()}`;
      const connection = await connect({
        ...(await connectionOptions(this.options)),
        pingInterval: this.pingIntervalMs,
      });
      this.connection = connection;
      if (this.isClosed) return await connection.close();
      this.isConnected = true;
      void this.watch(connection);
      for (const key of this.topics) this.listenTo(key);
    } catch (error) {
      this.connectLater();
      if (isRefusal(error))
        throw new RockpoolError(
          'config-invalid',
          { count: 1, problems: 'bus: NATS rejects the user, password, token or credentials' },
          { cause: error },
        );
      const isOfStore = error instanceof RockpoolError;
      this.onError(isOfStore ? error : new RockpoolError('network-unreachable', { problem: 'NATS' }, { cause: error }));
    }
  }

  private connectLater(): void {
    if (this.isClosed) return;
    this.retry = setTimeout(() => void this.connect().catch(this.onError), RECONNECT_DELAY_MS * (1 + Math.random()));
    this.retry.unref();
  }

  private async watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) this.onStatus(status);
  }

  private onStatus(status: Status): void {
    switch (status.type) {
      case 'disconnect':
      case 'close':
        if (this.isConnected) this.onError(new RockpoolError('network-unreachable', { problem: 'NATS' }));
        this.isConnected = false;
        return;
      case 'reconnect':
        // The client reports this after it has sent all subscriptions again.
        this.isConnected = true;
        this.reconnects++;
        return;
      case 'error':
        this.onError(status.error);
        return;
    }
  }

  private listenTo(key: string): void {
    if (this.connection === null || this.subscriptions.has(key)) return;
    this.subscriptions.set(
      key,
      this.connection.subscribe(this.subject(key), {
        callback: (error, received) => {
          if (error !== null) return this.onError(error);
          const message = readBusMessage(received.string());
          // A program with the same credentials can send on any subject.
          if (message === null || topicKey(topicOf(message)) !== key)
            this.onError(new Error('a message from NATS was not sent by an instance'));
          else this.local.publish(message);
        },
      }),
    );
  }
}

async function connectionOptions({ servers, credentials }: NatsOptions): Promise<ConnectionOptions> {
  const urls = servers.map((server) => new URL(server));
  const [user = '', password = ''] = urls.flatMap(({ username, password: secret }) =>
    username === '' ? [] : [decodeURIComponent(username), decodeURIComponent(secret)],
  );
  return {
    servers: urls.map(({ host }) => host),
    name: 'rockpool-server',
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_DELAY_MS,
    reconnectJitter: RECONNECT_DELAY_MS,
    reconnectJitterTLS: RECONNECT_DELAY_MS,
    // Credentials that are being replaced at NATS are refused for a while.
    ignoreAuthErrorAbort: true,
    maxPingOut: UNANSWERED_PINGS,
    timeout: CONNECT_TIMEOUT_MS,
    ...(urls.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    ...(user !== '' && (password === '' ? { token: user } : { user, pass: password })),
    ...(credentials !== undefined && {
      authenticator: (await import('@nats-io/transport-node')).credsAuthenticator(
        new TextEncoder().encode(credentials),
      ),
    }),
  };
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error && (error.name === 'AuthorizationError' || error.name === 'UserAuthenticationExpiredError')
  );
}

/** Returns the problem of a NATS URL, or null. Never quotes the URL, because it may contain a password. */
export function natsUrlProblem(url: string): string | null {
  const { protocol = '', hostname = '', pathname = '' } = URL.canParse(url) ? new URL(url) : {};
  return (protocol === 'nats:' || protocol === 'tls:') && hostname !== '' && (pathname === '' || pathname === '/')
    ? null
    : 'a URL such as nats://user:password@host:4222';
}
