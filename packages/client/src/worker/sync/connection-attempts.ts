import { toRockpoolError, type ClientMessage, type ErrorData, type ServerMessage } from '@rockpool/shared';
import type { Connect, ServerConnection } from './server-connection.ts';

export interface ConnectionAttemptsOptions {
  readonly url: string;
  readonly token: () => Promise<string>;
  readonly connect: Connect;
  /** Runs a task on the database now, or when the open interactive transaction has ended. */
  readonly inTurn: (job: () => void) => void;
  readonly onToken: () => void;
  /** Called when the app returns no token. */
  readonly onNoToken: (error: ErrorData) => void;
  readonly onOpen: (token: string) => void;
  readonly onMessage: (message: ServerMessage) => void;
  readonly onPart: () => void;
  readonly onFailed: (error: ErrorData) => void;
}

/** Connects to the server, one attempt after another. No event of an earlier attempt reaches a later one. */
export class ConnectionAttempts {
  private readonly options: ConnectionAttemptsOptions;
  private attempt = 0;
  private connection: ServerConnection | null = null;

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

  /** Returns false if there is no connection. */
  send(message: ClientMessage): boolean {
    this.connection?.send(message);
    return this.connection !== null;
  }

  private async connect(isCurrent: () => boolean): Promise<void> {
    const { url, token, connect, inTurn, onToken, onNoToken, onOpen, onMessage, onPart, onFailed } = this.options;
    let credentials: string;
    try {
      credentials = await token();
    } catch (thrown) {
      if (isCurrent()) onNoToken(toRockpoolError(thrown).toData());
      return;
    }
    if (!isCurrent()) return;
    onToken();
    const ifCurrent = (call: () => void): void => {
      if (isCurrent()) call();
    };
    this.connection = connect(url, {
      onOpen: () => ifCurrent(() => onOpen(credentials)),
      onMessage: (message) => inTurn(() => ifCurrent(() => onMessage(message))),
      onPart: () => ifCurrent(onPart),
      onFailed: (error) => ifCurrent(() => onFailed(error)),
    });
  }
}
