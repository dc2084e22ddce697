import type { OpenPool } from '#sync-server/postgres/connection.ts';
import type { Backend } from './backend.ts';
import { PostgresError } from './postgres-error.ts';
import type { PostgresModel } from './postgres-model.ts';
import type { Answer } from './statements.ts';

/** What happens to one statement in transit: `lost before` and `lost after` end the connection. */
export type Passage = 'arrives' | 'lost before' | 'lost after' | 'silent';

/** The network between one instance and PostgreSQL. */
export interface Line {
  /** The delay of one direction. */
  delayMs(): number;
  passageOf(sql: string): Passage;
  /** A statement is on its way, or its response has arrived. May end the process that runs the client. */
  onTraffic(sql: string, when: 'sent' | 'answered'): void;
  /** How many copies of a notification arrive, and how late each is in ms. */
  notifications(): readonly number[];
  /** Runs code of the instance. Does nothing if the instance has died. */
  run(body: () => void): void;
}

type Listener = (...args: unknown[]) => void;

/** The part of `pg.Pool` that the server uses, connected to the model. */
export class SimulatedPool {
  readonly totalCount = 0;
  readonly idleCount = 0;
  readonly waitingCount = 0;
  private readonly model: PostgresModel;
  private readonly line: Line;
  private readonly answerDeadlineMs: number;
  private readonly clients = new Set<SimulatedClient>();
  private onConnect: (client: SimulatedClient) => void = () => undefined;

  constructor(model: PostgresModel, line: Line, { query_timeout: answerDeadlineMs = 0 }: Parameters<OpenPool>[0]) {
    this.model = model;
    this.line = line;
    this.answerDeadlineMs = answerDeadlineMs;
  }

  on(event: string, listener: (client: SimulatedClient) => void): this {
    if (event === 'connect') this.onConnect = listener;
    return this;
  }

  connect(): Promise<SimulatedClient> {
    return new Promise((resolve) => {
      this.model.clock.after(this.line.delayMs(), () =>
        this.line.run(() => {
          const client = new SimulatedClient(this.model, this.line, this.answerDeadlineMs, () =>
            this.clients.delete(client),
          );
          this.clients.add(client);
          this.onConnect(client);
          resolve(client);
        }),
      );
    });
  }

  end(): Promise<void> {
    this.die();
    return Promise.resolve();
  }

  /** The process is gone: the system closes its connections. What it sent may still arrive. */
  die(): void {
    for (const client of this.clients) client.die();
  }
}

class SimulatedClient {
  private readonly model: PostgresModel;
  private readonly line: Line;
  private readonly answerDeadlineMs: number;
  private readonly backend: Backend;
  private readonly onReleased: () => void;
  private readonly listeners = new Map<string, Listener[]>();
  private reject: ((error: Error) => void) | null = null;
  private underWay = 0;
  private isEnded = false;
  private isDead = false;
  private isSilent = false;

  constructor(model: PostgresModel, line: Line, answerDeadlineMs: number, onReleased: () => void) {
    this.model = model;
    this.line = line;
    this.answerDeadlineMs = answerDeadlineMs;
    this.onReleased = onReleased;
    this.backend = model.connect({
      onNotification: (payload) => {
        for (const lateMs of line.notifications())
          model.clock.after(lateMs, () => this.emit('notification', { payload }));
      },
      onEnd: (code) => {
        if (!this.isSilent) model.clock.after(line.delayMs(), () => this.break(code));
      },
    });
  }

  on(event: string, listener: Listener): this {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
    return this;
  }

  escapeLiteral(text: string): string {
    return `'${text.replaceAll("'", "''")}'`;
  }

  query(asked: string | { readonly text: string; readonly values?: readonly unknown[] }): Promise<{ rows: Answer }> {
    const { text, values = [] } = typeof asked === 'string' ? { text: asked } : asked;
    const { model, line, backend } = this;
    return new Promise((resolve, reject) => {
      if (this.isEnded) return reject(new Error('the connection has ended'));
      this.reject = reject;
      const passage = line.passageOf(text);
      if (passage === 'lost before') return void model.clock.after(line.delayMs(), () => this.lose());
      if (passage === 'silent') {
        this.isSilent = true;
        model.clock.after(this.answerDeadlineMs, () => this.lose());
        return;
      }
      const answer = (result: Answer | PostgresError): void => {
        if (passage === 'lost after') return void model.clock.after(line.delayMs(), () => this.lose());
        model.clock.after(line.delayMs(), () =>
          line.run(() => {
            if (this.isEnded) return;
            line.onTraffic(text, 'answered');
            if (this.isDead) return;
            this.reject = null;
            if (result instanceof PostgresError) reject(result);
            else resolve({ rows: result });
          }),
        );
      };
      this.underWay++;
      model.clock.after(line.delayMs(), () => {
        backend.query(text, values, answer);
        this.underWay--;
        if (this.isDead && this.underWay === 0) backend.end();
      });
      line.onTraffic(text, 'sent');
    });
  }

  release(isBroken: boolean = false): void {
    this.onReleased();
    if (this.isEnded) return;
    this.isEnded = true;
    // Ends the backend in either case: the model has no idle connections.
    if (isBroken) this.model.clock.after(this.line.delayMs(), () => this.backend.end());
    else this.backend.end();
  }

  /** The process is gone. What it sent arrives first. */
  die(): void {
    this.isEnded = true;
    this.isDead = true;
    if (this.underWay === 0) this.backend.end();
  }

  private lose(): void {
    this.backend.end();
    this.break('08006');
  }

  private break(code: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.line.run(() => {
      const error = new PostgresError(code);
      this.reject?.(error);
      this.emitNow('error', error);
      this.emitNow('end');
    });
  }

  private emit(event: string, ...args: unknown[]): void {
    if (!this.isEnded) this.line.run(() => this.emitNow(event, ...args));
  }

  private emitNow(event: string, ...args: unknown[]): void {
    for (const listener of this.listeners.get(event) ?? []) listener(...args);
  }
}
