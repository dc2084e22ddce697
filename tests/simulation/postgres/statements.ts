import type { Backend } from './backend.ts';
import {
  isOfDatabase,
  namesIn,
  readCreateTable,
  readWrittenRows,
  toDriver,
  type ModelRow,
  type ModelTable,
} from './model-tables.ts';
import { PostgresError } from './postgres-error.ts';
import type { DatabaseRow } from './postgres-model.ts';

export type Answer = (readonly unknown[])[];

interface Call {
  readonly backend: Backend;
  readonly match: RegExpExecArray;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

interface Statement {
  readonly pattern: RegExp;
  run(call: Call, answered: (answer: Answer | PostgresError) => void): void;
}

/** No history moves a database to another shard. */
const NO_MARK = [null, null] as const;

/** The columns that prepare-schema.ts looks for. */
const SHARED_COLUMNS: readonly string[] = [
  'rockpool_commit.committed_at',
  'rockpool_database.leased_by',
  'rockpool_database.leased_until',
  'rockpool_database.move_id',
  'rockpool_database.move_role',
  'rockpool_invitation.invited_by',
  'rockpool_member.accepted_code_sha256',
  'rockpool_store.store_id',
  'rockpool_store.directory',
];

const KEPT_COMMITS = 2_000;
const KEPT_MS = 3_600_000;

/** The statements of the store and of the bus. The first one that matches is executed. */
export const STATEMENTS: readonly Statement[] = [
  {
    pattern: /^BEGIN ISOLATION LEVEL (REPEATABLE READ, READ ONLY|READ COMMITTED, READ WRITE);/,
    run({ backend, match, sql }, answered) {
      backend.begin(match[1] === 'REPEATABLE READ, READ ONLY');
      if (!sql.includes('pg_advisory_xact_lock_shared')) return answered([]);
      backend.lock(backend.model.schemaLock, 'shared', answered, () => answered([]));
    },
  },
  {
    pattern: /^COMMIT$/,
    run({ backend }, answered) {
      backend.commit();
      answered([]);
    },
  },
  {
    pattern: /^ROLLBACK$/,
    run({ backend }, answered) {
      backend.rollBack();
      answered([]);
    },
  },
  answering(/^SELECT current_setting\('server_encoding'\), current_setting\('synchronous_commit'\)$/, () => [
    ['UTF8', 'on'],
  ]),
  {
    pattern: /^SELECT pg_advisory_xact_lock\(\d+\)$/,
    run: ({ backend }, answered) =>
      backend.lock(backend.model.schemaLock, 'exclusive', answered, () => answered([[null]])),
  },
  answering(/^SELECT relname FROM pg_class/, ({ backend }) =>
    backend.model.store === null ? [] : [['rockpool_store'], ['rockpool_directory']],
  ),
  answering(/^CREATE SCHEMA IF NOT EXISTS/, () => []),
  answering(/^CREATE TABLE rockpool\."/, ({ backend, sql }) => {
    const created = readCreateTable(sql);
    if (created === null) throw new Error(`the model cannot read ${sql}`);
    backend.model.tables.set(created.name, created.table);
    return [];
  }),
  // Every instance of a history has the same version: no column is missing.
  answering(/^SELECT relname \|\| '\.' \|\| attname FROM pg_attribute/, () => SHARED_COLUMNS.map((name) => [name])),
  // A transaction of a history lasts for less than a migration waits.
  answering(/^\s*SELECT DISTINCT held\.virtualtransaction FROM pg_locks/, () => []),
  // The probe of the bus.
  answering(/^SELECT pg_backend_pid\(\)$/, () => [[1]]),
  // No history uses these tables: any other statement on them is unknown.
  answering(/^\s*CREATE TABLE IF NOT EXISTS rockpool\.rockpool_/, () => []),
  answering(
    /^ALTER TABLE rockpool\."([^"]+)" ADD COLUMN "([^"]+)" ([a-z ]+?)(?: NOT NULL)?(?: DEFAULT '((?:[^']|'')*)'::.*)?$/s,
    ({ backend, match: [, name = '', column = '', type = '', value] }) => {
      const table = backend.model.tables.get(name) as ModelTable;
      table.columns.push({ name: column, type });
      const text = value === undefined ? null : value.replaceAll("''", "'");
      table.rows = new Map([...table.rows].map(([key, row]) => [key, new Map([...row, [column, text]])]));
      return [];
    },
  ),
  // The store gives each new row all its values.
  answering(/^ALTER TABLE rockpool\."[^"]+" ALTER COLUMN "[^"]+" DROP DEFAULT$/, () => []),
  answering(/^INSERT INTO rockpool\.rockpool_store /, ({ backend, parameters: [storageFormat, schema, hash] }) => {
    backend.model.store = { storageFormat: Number(storageFormat), schema: String(schema), schemaHash: String(hash) };
    return [];
  }),
  answering(
    /^SELECT storage_format, schema, EXISTS \(SELECT 1 FROM rockpool\.rockpool_schema WHERE hash = \$1\) FROM/,
    (call) => {
      const { store } = call.backend.state;
      const isRemembered = call.backend.model.schemas.has(String(call.parameters[0]));
      return store === null ? [] : [[store.storageFormat, store.schema, isRemembered]];
    },
  ),
  answering(/^SELECT storage_format, schema FROM rockpool\.rockpool_store$/, ({ backend }) =>
    backend.state.store === null ? [] : [[backend.state.store.storageFormat, backend.state.store.schema]],
  ),
  answering(/^UPDATE rockpool\.rockpool_store SET schema = \$1, schema_hash = \$2$/, ({ backend, parameters }) => {
    const [schema, schemaHash] = parameters.map(String) as [string, string];
    backend.model.store = { storageFormat: backend.model.store?.storageFormat ?? 0, schema, schemaHash };
    return [];
  }),
  answering(/^INSERT INTO rockpool\.rockpool_schema /, ({ backend, parameters: [hash, schema] }) => {
    backend.model.schemas.set(String(hash), String(schema));
    return [];
  }),
  answering(/^SELECT schema FROM rockpool\.rockpool_schema$/, ({ backend }) =>
    [...backend.model.schemas.values()].map((schema) => [schema]),
  ),
  answering(/^SELECT id FROM rockpool\.rockpool_database ORDER BY id$/, ({ backend }) =>
    [...backend.state.databases.keys()].sort().map((id) => [id]),
  ),
  answering(
    /^SELECT id, head, commit_id FROM rockpool\.rockpool_database WHERE id = ANY \(\$1\) AND move_role IS NULL$/,
    ({ backend, parameters: [ids] }) =>
      (ids as readonly string[]).flatMap((id) => {
        const row = backend.state.databases.get(id);
        return row === undefined ? [] : [[id, String(row.head), Buffer.from(row.commitId)]];
      }),
  ),
  answering(/^SELECT \(SELECT schema_hash FROM rockpool\.rockpool_store WHERE storage_format = (\d+)\)$/, (call) => [
    [schemaHash(call, call.match[1])],
  ]),
  {
    pattern:
      /^SELECT head, commit_id(?:, \(SELECT schema_hash FROM rockpool\.rockpool_store WHERE storage_format = (\d+)\), (\(leased_until > clock_timestamp\(\) AND leased_by IS DISTINCT FROM \$2\)))?(, move_id, move_role)? FROM rockpool\.rockpool_database WHERE id = \$1 ?(FOR UPDATE)?$/,
    run(call, answered) {
      const {
        backend,
        match: [, storageFormat, leased, marks, lock],
        parameters: [id, instanceId],
      } = call;
      const { model } = backend;
      const read = (): void => {
        // After waiting for the lock, a statement at READ COMMITTED sees the row in its state at that time.
        const row = backend.state.databases.get(String(id));
        if (row === undefined) return answered([]);
        const { head, commitId, leasedBy, leasedUntilMs } = row;
        const isLeased = leasedBy === null ? null : leasedUntilMs > model.clock.nowMs() && leasedBy !== instanceId;
        const position = [String(head), Buffer.from(commitId)];
        const lease = leased === undefined ? [] : [schemaHash(call, storageFormat), isLeased];
        answered([[...position, ...lease, ...(marks === undefined ? [] : NO_MARK)]]);
      };
      if (lock === undefined || !backend.state.databases.has(String(id))) return read();
      backend.lock(model.rowLock(String(id)), 'exclusive', answered, read);
    },
  },
  answering(
    /^SELECT head, commit_id, changeset FROM rockpool\.rockpool_commit WHERE database_id = \$1 AND head >= \$2 ORDER BY head$/,
    ({ backend, parameters: [id, from] }) =>
      backend.state.commits
        .filter(({ databaseId, head }) => databaseId === id && head >= Number(from))
        .map(({ head, commitId, changeset }) => [String(head), Buffer.from(commitId), Buffer.from(changeset)]),
  ),
  {
    pattern: /^UPDATE rockpool\.rockpool_database SET leased_by = (\$2|NULL), leased_until = /,
    run({ backend, match, parameters: [id, instanceId, durationMs] }, answered) {
      const isTaken = match[1] === '$2';
      const leasedUntilMs = backend.model.clock.nowMs() + Number(durationMs);
      changeDatabase(backend, String(id), answered, (row) => {
        const lease = isTaken ? { leasedBy: String(instanceId), leasedUntilMs } : { leasedBy: null, leasedUntilMs: 0 };
        backend.transaction?.databases.set(String(id), { ...row, ...lease });
        answered([]);
      });
    },
  },
  {
    pattern: /^INSERT INTO rockpool\.rockpool_database \(id, head, commit_id\) VALUES \(\$1, 0, \$2\) ON CONFLICT DO/,
    run({ backend, parameters: [id, commitId] }, answered) {
      // Waits for another transaction that inserts the same row.
      backend.lock(backend.model.rowLock(String(id)), 'exclusive', answered, () => {
        if (backend.state.databases.has(String(id))) return answered([]);
        const row = { head: 0, commitId: commitId as Uint8Array, leasedBy: null, leasedUntilMs: 0 };
        backend.transaction?.databases.set(String(id), row);
        answered([[1]]);
      });
    },
  },
  {
    pattern: /^WITH /,
    run(call, answered) {
      const { backend, sql, parameters } = call;
      const [id, head, commitId, changeset] = parameters;
      if (!sql.includes('moved AS (')) return answered(writeRows(call));
      changeDatabase(backend, String(id), answered, (row) => {
        const databaseId = String(id);
        const committedAtMs = backend.model.clock.nowMs();
        const commit = { databaseId, head: Number(head), commitId: commitId as Uint8Array, committedAtMs };
        const known = backend.model.commits.filter((one) => one.databaseId === databaseId);
        if (known.some((one) => one.head === commit.head)) return answered(new PostgresError('23505'));
        backend.transaction?.databases.set(databaseId, { ...row, head: commit.head, commitId: commit.commitId });
        backend.transaction?.commits.push({ ...commit, changeset: changeset as Uint8Array });
        const expired = known.filter((one) => one.committedAtMs < committedAtMs - KEPT_MS).at(-1)?.head ?? 0;
        backend.transaction?.prunedBefore.set(databaseId, Math.max(commit.head - KEPT_COMMITS + 1, expired));
        answered(writeRows(call));
      });
    },
  },
  answering(
    /^DECLARE (\w+) NO SCROLL CURSOR FOR SELECT (.*) FROM rockpool\."([^"]+)" WHERE database_id = '(.*)'$/s,
    ({ backend, match: [, cursor = '', columns = '', name = '', quotedId = ''] }) => {
      const table = backend.model.tables.get(name);
      if (table === undefined) throw new Error(`the model has no table ${name}`);
      const databaseId = quotedId.replaceAll("''", "'");
      const rows = [...backend.state.rowsOf(name)].filter(([key]) => isOfDatabase(key, databaseId));
      const types = new Map(table.columns.map((column) => [column.name, column.type]));
      const asked = namesIn(columns);
      const answer = rows.map(([, row]) =>
        asked.map((column) => toDriver(types.get(column) ?? 'text', row.get(column) ?? null)),
      );
      backend.transaction?.cursors.set(cursor, answer);
      return [];
    },
  ),
  answering(/^FETCH FORWARD (\d+) FROM (\w+)$/, ({ backend, match: [, count, cursor = ''] }) =>
    (backend.transaction?.cursors.get(cursor) ?? []).splice(0, Number(count)),
  ),
  answering(/^CLOSE (\w+)$/, ({ backend, match: [, cursor = ''] }) => {
    backend.transaction?.cursors.delete(cursor);
    return [];
  }),
  answering(/^LISTEN rockpool$/, ({ backend }) => {
    backend.listen();
    return [];
  }),
  answering(
    /pg_notify\('rockpool', message\), pg_backend_pid\(\) FROM unnest\(\$1::text\[\]\)/,
    ({ backend, parameters: [messages] }) => {
      for (const message of messages as readonly string[]) backend.model.notify(message);
      return [];
    },
  ),
];

/** Null if there are no tables, or if they have a different format. */
function schemaHash({ backend }: Call, storageFormat: string | undefined): string | null {
  const { store } = backend.state;
  return store !== null && store.storageFormat === Number(storageFormat) ? store.schemaHash : null;
}

/** A statement that waits for nothing. */
function answering(pattern: RegExp, run: (call: Call) => Answer): Statement {
  return { pattern, run: (call, answered) => answered(run(call)) };
}

/** An UPDATE of a row of rockpool_database, which locks it. */
function changeDatabase(
  backend: Backend,
  databaseId: string,
  answered: (answer: Answer | PostgresError) => void,
  change: (row: DatabaseRow) => void,
): void {
  backend.lock(backend.model.rowLock(databaseId), 'exclusive', answered, () => {
    const row = backend.state.databases.get(databaseId);
    if (row === undefined) answered([['0']]);
    else change(row);
  });
}

/** Writes the rows. Returns the number of changed rows, or a unique violation. */
function writeRows({ backend, sql, parameters }: Call): Answer | PostgresError {
  let changed = 0;
  for (const { table, kind, rows } of readWrittenRows(sql, parameters)) {
    const ofPart = backend.write(String(parameters[0]), kind, table, rows as readonly ModelRow[]);
    if (ofPart === null) return new PostgresError('23505');
    changed += ofPart;
  }
  return [[String(changed)]];
}
