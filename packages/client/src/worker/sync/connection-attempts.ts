import {
  RockpoolError,
  toRockpoolError,
  type ClientMessage,
  type ErrorData,
  type ServerMessage,
} from '@rockpool/shared';
import type { Connect, ServerConnection } from './server-connection.ts';

export interface ConnectionAttemptsOptions {
  readonly url: string;
  readonly token: () => Promise<string>;
  /** The user whose changes are sent; a JWT of another user is not used. Default: the app names no user. */
  readonly principal?: string | null;
  /** The `sub` of this user's earlier JWTs; null if unknown. */
  readonly knownSub: () => string | null;
  readonly connect: Connect;
  /** Runs a task on the database now, or when the open interactive transaction has ended. */
  readonly inTurn: (job: () => void) => void;
  readonly onToken: () => void;
  readonly onOpen: () => void;
  readonly onMessage: (message: ServerMessage) => void;
  readonly onPart: () => void;
  /** Called when the app returns no token, and when the connection cannot be opened or ends. */
  readonly onFailed: (error: ErrorData) => void;
}

/** Libraries that keep tokens return a new one some time before the old one expires, usually a minute or more. */
const RENEW_BEFORE_MS = 30_000;

/** With less time left, the session ends with its token, and the next connection begins with a new one. */
const RENEW_UNTIL_MS = 4_000;

/** A timer with a longer delay would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Connects to the server, one attempt after another. No event of an earlier attempt reaches a later one. */
export class ConnectionAttempts {
  /** The token of the current connection. */
  token = '';
  private readonly options: ConnectionAttemptsOptions;
  private attempt = 0;
  private connection: ServerConnection | null = null;
  private renewal: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ConnectionAttemptsOptions) {
    this.options = options;
  }

  /** Asks for a token, then connects. */
  open(): void {
    this.attempt++;
    void this.connect(this.whileCurrent());
  }

  /** Ends the current attempt. */
  close(): void {
    this.attempt++;
    clearTimeout(this.renewal);
    this.connection?.close();
    this.connection = null;
  }

  /** Returns a function that returns true until the current attempt ends. */
  whileCurrent(): () => boolean {
    const mine = this.attempt;
    return () => mine === this.attempt;
  }

  /** See ServerConnection. 0 without a connection. */
  get bufferedBytes(): number {
    return this.connection?.bufferedBytes ?? 0;
  }

  /** The user of the current JWT; null for any other token, and if the app names no user. */
  get sub(): string | null {
    return (this.options.principal && claimsOf(this.token).sub) ?? null;
  }

  /** Returns false if there is no connection. */
  send(message: ClientMessage): boolean {
    this.connection?.send(message);
    return this.connection !== null;
  }

  /**
   * Sends the server a newer token of the same user before the current one expires, so that the session continues.
   * Only the expiry of a JWT is known. `serverMs`: the wall time of the server.
   */
  renewToken(serverMs: () => number): void {
    const { sub, exp } = claimsOf(this.token);
    const leftMs = exp * 1000 - serverMs();
    if (!sub || !(leftMs > RENEW_UNTIL_MS)) return;
    const isCurrent = this.whileCurrent();
    this.renewal = setTimeout(
      async () => {
        const token = await this.options.token().catch(() => this.token);
        const next = claimsOf(token);
        // The server ends a session that receives the token of a different user, who gets a session of their own.
        if (!isCurrent() || next.sub !== sub) return;
        if (next.exp > exp) {
          this.token = token;
          this.send({ type: 'renew-token', token });
        }
        this.renewToken(serverMs);
      },
      Math.min(Math.max(leftMs - RENEW_BEFORE_MS, leftMs / 2), MAX_DELAY_MS),
    );
  }

  private async connect(isCurrent: () => boolean): Promise<void> {
    const {
      url,
      token,
      principal = null,
      knownSub,
      connect,
      inTurn,
      onToken,
      onOpen,
      onMessage,
      onPart,
      onFailed,
    } = this.options;
    const ifCurrent = (call: () => void): void => {
      if (isCurrent()) call();
    };
    try {
      const credentials = await token();
      if (!isCurrent()) return;
      const { sub, formerly } = claimsOf(credentials);
      const known = knownSub();
      const isOfUser = (id: string): boolean => id === sub || formerly?.includes(id) === true;
      // For example, another tab has signed a different user in, whose cookie this tab's request had. The server may
      // name users by ids other than those of the tokens, so the `sub` of a first token need not be the principal.
      if (principal !== null && known !== null && sub && !isOfUser(known) && !isOfUser(principal))
        throw new RockpoolError('other-principal', { stage: 'token' });
      this.token = credentials;
      onToken();
      this.connection = connect(url, {
        onOpen: () => ifCurrent(onOpen),
        onMessage: (message) => inTurn(() => ifCurrent(() => onMessage(message))),
        onPart: () => ifCurrent(onPart),
        onFailed: (error) => ifCurrent(() => onFailed(error)),
      });
    } catch (thrown) {
      ifCurrent(() => onFailed(toRockpoolError(thrown).toData()));
    }
  }
}

/** The claims of a JWT, unverified; `exp` is 0 for any other token. */
function claimsOf(token: string): {
  readonly sub?: string;
  readonly formerly?: readonly string[];
  readonly exp: number;
} {
  try {
    const payload = token.split('.')[1] ?? '';
    return { exp: 0, ...JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) };
  } catch {
    return { exp: 0 };
  }
}
