import { RockpoolError, toRockpoolError, type Schema } from '@rockpool/shared';
import type { memoryMedium, SqliteModule as StorageModule, stageFile, StagedFile } from '@rockpool/vfs-opfs';
import type { PastAnswer, PastAsk, PastFacts } from '../../rpc/past-state.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { QueryRun } from '../database/query-run.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { downloadPastState, type PastServer } from './download-past-state.ts';

/** Code of the worker's main script; see RehearsedCode. */
export interface PastCode {
  readonly Connection: typeof Connection;
  readonly QueryRun: typeof QueryRun;
  readonly memoryMedium: typeof memoryMedium;
  readonly stageFile: typeof stageFile;
}

export interface PastStatesOptions {
  readonly server: PastServer;
  readonly schema: Schema;
  readonly runtime: SqliteRuntime;
  readonly token: () => Promise<string>;
  /** Aborts when the client closes. */
  readonly closed: AbortSignal;
}

/** After this time, a query yields to other work of the worker. */
const SLICE_MS = 20;

/** The past states that a tab has open, each a file in memory. */
export class PastStates {
  private readonly options: PastStatesOptions;
  private readonly code: PastCode;
  private readonly opened = new Map<string, OpenedPastState>();

  constructor(options: PastStatesOptions, code: PastCode) {
    this.options = options;
    this.code = code;
    // They are in memory, so nothing waits for a query that they run.
    options.closed.addEventListener('abort', () => void this.closeAll());
  }

  async answer(ask: PastAsk, onProgress: ((progress: SnapshotProgress) => void) | null): Promise<PastAnswer> {
    switch (ask.kind) {
      case 'open':
        return this.open(ask.id, ask.moment, (progress) => void onProgress?.(progress));
      case 'query':
        return (await this.opened.get(ask.id)?.query(ask.statement)) ?? null;
      case 'close':
        await this.opened.get(ask.id)?.close();
        this.opened.delete(ask.id);
        return null;
    }
  }

  private async closeAll(): Promise<void> {
    const opened = [...this.opened.values()];
    this.opened.clear();
    await Promise.all(opened.map((state) => state.close()));
  }

  private async open(id: string, moment: string, onProgress: (progress: SnapshotProgress) => void): Promise<PastFacts> {
    const { server, token, runtime, schema, closed } = this.options;
    const asked = { moment, token: await token(), closed };
    const { facts, ...content } = await downloadPastState(server, asked, onProgress);
    const staged = await this.code.stageFile({ name: `past-${id}`, medium: this.code.memoryMedium(), ...content });
    const { storage } = staged;
    storage.register(runtime.module as unknown as StorageModule);
    const connection = new this.code.Connection(runtime, {
      path: storage.path,
      vfsName: storage.vfsName,
      isOnlyWriter: true,
    });
    this.opened.set(id, new OpenedPastState(connection, staged, schema, this.code));
    return { ...facts, laterColumns: laterColumnsOf(connection) };
  }
}

/** See PastState. Empty if the server that made the file is too old to record these columns. */
function laterColumnsOf(connection: Connection): PastFacts['laterColumns'] {
  const [named] = connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'rockpool_past_later_column'");
  if (named === undefined) return [];
  return connection
    .rows('SELECT table_name, column_name FROM rockpool_past_later_column ORDER BY 1, 2')
    .map(([table, column]) => ({ table: String(table), column: String(column) }));
}

class OpenedPastState {
  private readonly connection: Connection;
  private readonly staged: StagedFile;
  private readonly schema: Schema;
  private readonly code: Pick<PastCode, 'QueryRun'>;
  // One query at a time, because each of them occupies the connection.
  private last: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, staged: StagedFile, schema: Schema, code: Pick<PastCode, 'QueryRun'>) {
    this.connection = connection;
    this.staged = staged;
    this.schema = schema;
    this.code = code;
  }

  query(statement: SqlStatement): Promise<EncodedRows> {
    return this.inTurn(() => this.run(statement));
  }

  close(): Promise<void> {
    return this.inTurn(async () => {
      this.connection.close();
      await this.staged.remove();
    });
  }

  private async run(statement: SqlStatement): Promise<EncodedRows> {
    try {
      const run = new this.code.QueryRun(this.connection, statement);
      try {
        for (;;) {
          const rows = run.advance(SLICE_MS);
          if (rows !== null) return rows;
          await new Promise((resolve) => setTimeout(resolve));
        }
      } finally {
        run.end();
      }
    } catch (thrown) {
      throw this.explained(toRockpoolError(thrown));
    }
  }

  /** Translates the error for a table without a history, which is not in the file. */
  private explained(error: RockpoolError): RockpoolError {
    const [, name] = /^no such table: (?:main\.)?(.+)$/.exec(String(error.fields['detail'])) ?? [];
    const table = this.schema.tables.find((one) => one.name.toLowerCase() === name?.toLowerCase());
    return table === undefined ? error : new RockpoolError('history-not-kept', { table: table.name }, { cause: error });
  }

  private inTurn<Result>(job: () => Promise<Result>): Promise<Result> {
    const done = this.last.then(job);
    this.last = done.catch(() => undefined);
    return done;
  }
}
