import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import { RockpoolError } from '@rockpool/shared';
import type { InstanceDirectory } from '../postgres/instance-directory.ts';
import { SharedRead } from '../postgres/shared-read.ts';

/** How long the registration of this instance, and the known addresses of the others, are valid. */
const KNOWN_MS = 60_000;

/** Marks a request that another instance has forwarded. It is not forwarded again. */
const FORWARDED_HEADER = 'rockpool-forwarded';

export interface SessionForwardingOptions {
  readonly directory: InstanceDirectory;
  /** The URL that other instances use to reach the routes of this one. Null if unknown. */
  readonly ownUrl: () => string | null;
  readonly now: () => number;
}

/**
 * Forwards the requests of sessions over plain HTTP to the instance that has the session, because a load balancer may
 * send each of them to another instance. A session id begins with the id of its instance.
 */
export class SessionForwarding {
  readonly instance: string = randomBytes(9).toString('base64url');
  private readonly options: SessionForwardingOptions;
  // The instances as last read, by id.
  private urls = new Map<string, string>();
  private knownUntilMs = 0;
  private enteredUntilMs = 0;
  private entering: Promise<void> | null = null;
  private readonly directoryRead = new SharedRead(() => this.readDirectory());

  constructor(options: SessionForwardingOptions) {
    this.options = options;
  }

  /** Call before a session is opened. Calls share a registration. Throws `database-unavailable`. */
  async enter(): Promise<void> {
    const { ownUrl, now } = this.options;
    const url = ownUrl();
    if (url === null || now() < this.enteredUntilMs) return;
    await (this.entering ??= this.enterNow(url).finally(() => (this.entering = null)));
  }

  /** Throws `request-invalid` if no other instance has the session or its instance does not respond. */
  async forward(sessionId: string, request: Request): Promise<Response> {
    const instance = sessionId.split('.')[0] ?? '';
    const unknown = (cause?: unknown): RockpoolError =>
      new RockpoolError('request-invalid', { problem: 'the session does not exist' }, { cause });
    if (request.headers.has(FORWARDED_HEADER) || instance === this.instance || !sessionId.includes('.'))
      throw unknown();
    const url = await this.urlOf(instance);
    if (url === null) throw unknown();
    try {
      return await fetch(`${url}/sessions/${encodeURIComponent(sessionId)}${new URL(request.url).search}`, {
        method: request.method,
        headers: { [FORWARDED_HEADER]: this.instance, 'content-type': 'application/octet-stream' },
        signal: request.signal,
        ...(request.body !== null && { body: request.body, duplex: 'half' }),
      });
    } catch (error) {
      this.urls.delete(instance);
      throw unknown(error);
    }
  }

  async close(): Promise<void> {
    // Removes the entry of this instance. The entry of a killed instance stays for a day.
    if (this.enteredUntilMs > 0) await this.options.directory.leave(this.instance).catch(() => undefined);
  }

  private async enterNow(url: string): Promise<void> {
    const { directory, now } = this.options;
    await directory.enter(this.instance, url);
    this.enteredUntilMs = now() + KNOWN_MS;
  }

  private async urlOf(instance: string): Promise<string | null> {
    if (!this.urls.has(instance) || this.options.now() >= this.knownUntilMs) await this.directoryRead.run();
    return this.urls.get(instance) ?? null;
  }

  private async readDirectory(): Promise<void> {
    const { directory, now } = this.options;
    this.urls = new Map(await directory.urls());
    this.knownUntilMs = now() + KNOWN_MS;
  }
}

/**
 * Returns the URL that other machines of the network use to reach a listening server. Null if the server does not
 * listen, or not on a port.
 */
export function urlOfServer(server: Server, path: string): string | null {
  const address = server.address();
  if (address === null || typeof address === 'string') return null;
  const isAnyAddress = address.address === '::' || address.address === '0.0.0.0';
  const host = isAnyAddress ? (ownAddress() ?? '127.0.0.1') : address.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}${path}`;
}

function ownAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
}
