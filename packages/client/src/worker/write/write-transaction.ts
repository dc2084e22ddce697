import {
  requireInDomain,
  RockpoolError,
  syncedTables,
  tableDomain,
  type ChangeGroup,
  type ChangesetOrigin,
  type LocalTime,
  type Schema,
  type TableDomain,
} from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement, StatementOutcome } from '../../rpc/sql-statement.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import type { CapturedChanges } from '../capture/captured-changes.ts';
import type { TransactionCapture } from '../capture/transaction-capture.ts';
import { applyMergeRules, rulesByTable, type RulesByTable } from './merge-rules.ts';
import type { Changelog } from '../changelog/changelog.ts';
import type { Meta } from '../file/meta.ts';
import { readUnseenColumns } from '../file/unseen-columns.ts';
import type { CanonicalTexts } from '../documents/canonical-documents.ts';
import { documentAuthor } from '../documents/document-author.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import { documentTables, type DocumentTables } from '../documents/document-columns.ts';
import type { SearchIndexes } from '../search/search-indexes.ts';
import type { SqlPolicy } from '../sqlite/authorizer.ts';
import type { Connection } from '../sqlite/connection.ts';
import { encodeRows } from '../sqlite/encode-rows.ts';
import type { Statement } from '../sqlite/statement.ts';
import { findCellBases } from './cell-bases.ts';
import type { RequestLog } from './request-log.ts';
import { lookupsByTable, tableChanges, type LookupsByTable } from '../invalidate/table-changes.ts';
import { commit } from './commit.ts';
import { SCHEMA_TABLE } from '../invalidate/commit-notice.ts';
import { viewDefinitions } from '../invalidate/view-definitions.ts';
import { createWritePolicy } from '../sqlite/sql-policy.ts';

export interface TransactionParts {
  readonly connection: Connection;
  readonly schema: Schema;
  readonly capture: TransactionCapture;
  readonly searchIndexes: SearchIndexes;
  readonly changelog: Changelog;
  readonly requests: RequestLog;
  readonly meta: Meta;
  readonly nowMs: () => number;
  /** Stamps changesets. */
  readonly localTime: LocalTime;
}

/**
 * The maximum number of times that documents are rewritten in canonical form. A trigger may change them back, but
 * rarely does so again and again.
 */
const MAX_ROUNDS = 3;

/** The result of a transaction's body, beyond the captured changes. */
export interface BodyResult {
  readonly results: readonly StatementOutcome[];
  /** See ChangesetBody. */
  readonly atomic: boolean;
  /** The changeset from which the transaction is re-created. */
  readonly origin?: ChangesetOrigin | undefined;
  /**
   * The rejected changeset that this one replaces without the knowledge of the user: `synced` and undo of its request
   * follow the new one.
   */
  readonly rejected?: number | false;
}

/**
 * One local write, from BEGIN to COMMIT:
 *
 *   BEGIN IMMEDIATE ─ known request? ─ start capture ─ statements ─ read capture ─► merge rules ─ check types
 *     ─ changelog ─ search indexes ─ record request ─ COMMIT
 *
 * 1. Rows, changeset and request id commit together or not at all: any error rolls everything back.
 * 2. Only the connection keeps values between writes, and a rollback makes it discard them, so nothing has to be
 *    repaired.
 */
export class WriteTransaction {
  readonly parts: TransactionParts;
  readonly policy: SqlPolicy;
  private readonly nameOfTable: ReadonlyMap<number, string>;
  private readonly syncedNames: ReadonlySet<string>;
  /** The tables of the schema by their names in lower case. A migration may have written a name in another case. */
  private readonly declaredNames: ReadonlyMap<string, string>;
  private readonly rules: RulesByTable;
  private readonly domains: ReadonlyMap<number, TableDomain>;
  private readonly documents: DocumentTables;
  private readonly lookups: LookupsByTable;
  /** Whether a statement has changed the schema since the transaction began. */
  private hasChangedSchema = false;
  private hasChangedViews = false;

  constructor(parts: TransactionParts) {
    this.parts = parts;
    this.policy = createWritePolicy(parts.schema);
    this.nameOfTable = new Map(parts.schema.tables.map(({ id, name }) => [id, name]));
    this.syncedNames = new Set(syncedTables(parts.schema).map(({ name }) => name));
    this.declaredNames = new Map(parts.schema.tables.map(({ name }) => [name.toLowerCase(), name]));
    this.rules = rulesByTable(syncedTables(parts.schema));
    this.domains = new Map(syncedTables(parts.schema).map((table) => [table.id, tableDomain(table)]));
    this.documents = documentTables(syncedTables(parts.schema));
    this.lookups = lookupsByTable(syncedTables(parts.schema));
  }

  /** Runs the statements of a request once. A repeated request returns its first outcome. */
  run({ id, statements, action }: WriteRequest): WriteOutcome {
    const body = (): BodyResult => ({ results: this.runStatements(statements), atomic: action?.kind === 'atomic' });
    // SQLite recompiles a statement after a schema change, so the policy must also apply while the statement runs.
    return this.runOnce(id, () => this.parts.connection.underPolicy(this.policy, body));
  }

  /** Runs writes of Rockpool itself, which become a changeset like any other. Those with a request id run only once. */
  runInternal(
    body: () => Pick<BodyResult, 'atomic'> & Partial<BodyResult>,
    requestId: string | null = null,
  ): WriteOutcome {
    return this.runOnce(requestId, () => ({ results: [], ...body() }));
  }

  /**
   * Like `runInternal`, for results that are not stored with the request. For a repeated request, `rereadResults` reads
   * them.
   */
  runRereadable(
    body: () => Pick<BodyResult, 'atomic' | 'results'>,
    rereadResults: () => readonly StatementOutcome[],
    requestId: string,
  ): WriteOutcome {
    const outcome = this.runOnce(requestId, body, false);
    return outcome.repeated ? { ...outcome, results: rereadResults() } : outcome;
  }

  private runOnce(requestId: string | null, body: () => BodyResult, keepsResults: boolean = true): WriteOutcome {
    const { requests, nowMs } = this.parts;
    return this.inTransaction(() => {
      const known = requestId === null ? null : requests.find(requestId);
      if (known !== null) return known;
      const outcome = this.runCaptured(body);
      if (requestId !== null) requests.record(requestId, keepsResults ? outcome : { ...outcome, results: [] }, nowMs());
      return outcome;
    });
  }

  /** Runs statements in order. Prepares a run of identical statements, as in an import, once. */
  runStatements(statements: readonly SqlStatement[]): StatementOutcome[] {
    const { connection, searchIndexes } = this.parts;
    const results: StatementOutcome[] = [];
    for (let next = 0; next < statements.length;) {
      const { sql } = statements[next] as SqlStatement;
      const statement = connection.prepare(sql, this.policy);
      const named = [...statement.tablesWritten];
      const changesSchema = named.includes('sqlite_master') || named.includes('sqlite_temp_master');
      const changesRows = named.length > 0 && !changesSchema;
      const viewsBefore = changesSchema && viewDefinitions(connection);
      try {
        for (; next < statements.length; next++) {
          const { sql: nextSql, params } = statements[next] as SqlStatement;
          if (nextSql !== sql) break;
          searchIndexes.catchUpFor(statement);
          const rows = this.runStatement(statement, params);
          results.push({ changes: changesRows ? connection.changes : 0, ...rows });
        }
      } finally {
        statement.release();
      }
      if (changesSchema) {
        // A redefined view changes the results and dependencies of any query: see createCommitFollower. Any other
        // change of the schema that an app may make changes no result, and CREATE IF NOT EXISTS may change nothing.
        this.hasChangedViews ||= viewDefinitions(connection) !== viewsBefore;
        this.hasChangedSchema = true;
        connection.dropIdleStatements();
      } else if (this.hasChangedSchema && named.length === 0) this.reloadUndoneSchema(); // It may be a ROLLBACK TO.
    }
    return results;
  }

  /** Runs a statement to its end. Returns its rows if it has columns, as with RETURNING. */
  private runStatement(statement: Statement, params: readonly SqlParam[]): { readonly rows?: EncodedRows } {
    if (statement.columnCount === 0) {
      statement.run(...params);
      return {};
    }
    statement.bindParams(params);
    return { rows: encodeRows(statement) };
  }

  /** Call it when a transaction has begun. */
  beginCapture(): void {
    this.hasChangedSchema = this.hasChangedViews = false;
    this.parts.connection.tablesWritten.clear();
    this.parts.capture.begin();
  }

  private runCaptured(body: () => BodyResult): WriteOutcome {
    const { capture } = this.parts;
    this.beginCapture();
    let captured: CapturedChanges;
    let done: BodyResult;
    try {
      done = body();
      captured = this.takeCanonicalChanges();
    } finally {
      capture.end();
    }
    return this.appendChangeset(done, captured);
  }

  /**
   * Appends captured changes to the changelog as one changeset, and updates search indexes. Call it after the last
   * statement: only the request is recorded later.
   */
  appendChangeset(done: BodyResult, captured: CapturedChanges): WriteOutcome {
    const { changelog, connection, meta, localTime, searchIndexes } = this.parts;
    const described = tableChanges(connection, this.lookups, captured);
    const changes = applyMergeRules(connection, this.rules, () => documentAuthor(meta), captured);
    this.requireInDomain(changes.groups);
    const touched = new Set(changes.groups.map(({ tableId }) => this.nameOfTable.get(tableId) ?? ''));
    // Local tables, also those that triggers and foreign keys write when Rockpool writes a synced table.
    for (const written of connection.tablesWritten) {
      const table = this.declaredNames.get(written.toLowerCase()) ?? written;
      if (!this.syncedNames.has(table) && !/^(sqlite|rockpool)_/.test(table)) touched.add(table);
    }
    if (this.hasChangedViews) touched.add(SCHEMA_TABLE);
    let sequence: number | null = null;
    if (changes.groups.length > 0) {
      const cellBases = findCellBases(connection, changes.groups, readUnseenColumns(meta));
      const { atomic, origin } = done;
      sequence = changelog.append({ ...changes, atomic, cellBases, base: meta.cursor, origin }, localTime);
    }
    if (done.rejected)
      connection.run('UPDATE rockpool_request SET sequence = ? WHERE sequence = ?', sequence, done.rejected);
    searchIndexes.catchUp();
    return { results: done.results, touchedTables: [...touched], changes: described, sequence, repeated: false };
  }

  /** Rejects what the server would reject. Runs after the merge rules, which add cells that did not change. */
  private requireInDomain(groups: readonly ChangeGroup[]): void {
    for (const group of groups) {
      const domain = this.domains.get(group.tableId);
      if (domain !== undefined) requireInDomain(domain, group);
    }
  }

  /** The captured changes, with documents in their canonical form. Call it while capture is on. */
  takeCanonicalChanges(): CapturedChanges {
    const { capture, connection } = this.parts;
    const known: CanonicalTexts = new Map();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const captured = capture.take();
      if (this.documents.size === 0) return captured;
      const canonical = documentSupport().makeDocumentsCanonical(connection, this.documents, captured, known);
      if (canonical !== null) return canonical;
    }
    throw new RockpoolError('document-invalid', {
      problem: 'a trigger undoes the canonical form each time',
    });
  }

  private inTransaction<T>(body: () => T): T {
    const { connection } = this.parts;
    connection.run('BEGIN IMMEDIATE');
    try {
      const result = body();
      // OR ROLLBACK and RAISE(ROLLBACK) end the transaction with an error and do not get here. Nothing else may end it.
      if (!connection.inTransaction) throw new RockpoolError('internal', { problem: 'the transaction has ended' });
      commit(connection);
      return result;
    } catch (error) {
      if (connection.inTransaction) connection.run('ROLLBACK');
      this.forgetUndoneSchema();
      throw error;
    }
  }

  /** Call it after a rollback. Statements that were compiled in the transaction know the schema that it had. */
  forgetUndoneSchema(): void {
    if (!this.hasChangedSchema) return;
    this.parts.connection.dropIdleStatements();
  }

  /** Call it after a rollback to a savepoint. */
  reloadUndoneSchema(): void {
    this.forgetUndoneSchema();
    // Loads the schema: SQLite discards its copy if the savepoint changed the schema, and capture cannot load it.
    this.parts.connection.value('SELECT 1 FROM sqlite_schema');
  }
}
