import type {
  buildSchema,
  ChangeGroup,
  ColumnSchema,
  columnIdOf,
  ColumnType,
  DEFAULT_MERGE_RULES,
  Delivery,
  tableIdOf,
  TableSchema,
} from '@rockpool/shared';
import type { openDatabase } from '../database/open-database.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import type { toSyncDatabase } from '../sync/sync-database.ts';

/**
 * Functions of the worker's main script. They are passed in: if this file imported them, bundlers would move them to a
 * separate chunk, and the first load would grow.
 */
export interface RehearsedCode {
  readonly openDatabase: typeof openDatabase;
  readonly toSyncDatabase: typeof toSyncDatabase;
  readonly buildSchema: typeof buildSchema;
  readonly columnIdOf: typeof columnIdOf;
  readonly tableIdOf: typeof tableIdOf;
  readonly mergeRules: typeof DEFAULT_MERGE_RULES;
}

/**
 * How often each step runs. The first run takes ten times as long as the fifth. Reaching the speed of compiled code
 * takes thousands of runs, which is not worth the energy.
 */
const ROUNDS = 3;

const MAX_PUSH_BYTES = 16 * 1024;
const ID_BYTES = 16;

/**
 * Runs captured writes, pushes and deliveries on a database in memory, one in each step, and closes it after the last.
 * It touches no storage. A generator, so that the caller can stop between two steps: call `return` on it.
 */
export function* rehearseWrites(runtime: SqliteRuntime, code: RehearsedCode): Generator<undefined, void, void> {
  const table = rehearsalTable(code);
  const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
  const database = code.openDatabase({
    runtime,
    path: ':memory:',
    role: 'writer',
    schema: code.buildSchema([table]),
    randomBytes,
    nowMs: Date.now,
  });
  try {
    const sync = code.toSyncDatabase({ database, elapsedMs: () => performance.now(), onApplied: () => undefined });
    sync.greet({
      type: 'welcome',
      protocolVersion: 0,
      databaseIdentity: randomBytes(ID_BYTES),
      logEpoch: randomBytes(ID_BYTES),
      watermark: 0,
      lastAckedSequence: 0,
      decidedHash: new Uint8Array(ID_BYTES),
      fullResync: false,
      serverNowMs: Date.now(),
      canWrite: true,
      takeSnapshot: false,
    });
    yield;
    for (let round = 1; round <= ROUNDS; round++) {
      const own = `own ${round}`;
      const write = (sql: string, ...params: (string | number)[]): void =>
        void database.write({ id: crypto.randomUUID(), statements: [{ sql, params }] });
      write('INSERT INTO rehearsal (id, text, number) VALUES (?, ?, ?)', own, 'written', round);
      yield;
      write('UPDATE rehearsal SET text = ? WHERE id = ?', 'changed', own);
      yield;
      sync.nextPush(0, MAX_PUSH_BYTES);
      yield;
      sync.applyDeliveries([deliveryOf(round, table)]);
      yield;
    }
  } finally {
    database.close();
  }
}

function rehearsalTable({ columnIdOf, tableIdOf, mergeRules }: RehearsedCode): TableSchema {
  const column = (name: string, type: ColumnType, notNull = false): ColumnSchema => ({
    id: columnIdOf(name),
    name,
    type,
    notNull,
    defaultSql: null,
    generated: null,
  });
  return {
    id: tableIdOf('rehearsal'),
    name: 'rehearsal',
    columns: [column('id', 'text', true), column('text', 'text'), column('number', 'integer')],
    primaryKey: ['id'],
    uniques: [],
    foreignKeys: [],
    checks: [],
    indexes: [],
    merge: mergeRules,
    synced: true,
  };
}

/** Acknowledges the two changesets of a round and delivers a row of another site. */
function deliveryOf(round: number, table: TableSchema): Delivery {
  const perRound = 3;
  const [from, to] = [(round - 1) * perRound, round * perRound];
  const first = 2 * round - 1;
  return {
    type: 'delivery',
    whole: false,
    from,
    to,
    logHash: new Uint8Array(ID_BYTES),
    lastAckedSequence: first + 1,
    outcomes: [first, first + 1].map((sequence, index) => ({
      kind: 'admitted',
      sequence,
      watermark: from + 1 + index,
      conflictCount: 0,
    })),
    groups: [insertOf(`theirs ${round}`, round, table)],
  };
}

function insertOf(id: string, number: number, table: TableSchema): ChangeGroup {
  const [, ...columns] = table.columns;
  return {
    tableId: table.id,
    kind: 'insert',
    rowCount: 1,
    keys: [[id]],
    columnIds: columns.map((column) => column.id),
    values: [['delivered'], [number]],
  };
}
