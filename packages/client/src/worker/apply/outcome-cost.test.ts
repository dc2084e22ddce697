import { buildSchema, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES, tablePolicies, type Outcome } from '@rockpool/shared';
import { describe, expect, it, vi } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { Statement } from '../sqlite/statement.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { PendingIndex, type PendingChangeset, type RowRef } from './pending-index.ts';
import { rebaseRow } from './rebase-row.ts';
import type { PendingRowChange } from './row-state.ts';

const page = testTable(
  'page',
  { id: 'text not null', title: 'text', reads: 'integer not null', content: 'text' },
  {
    merge: {
      ...DEFAULT_MERGE_RULES,
      counters: ['reads'],
      documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content', text: [] }],
    },
  },
);
const schema = buildSchema([page]);

/** Outcomes per delivery. */
const AT_ONCE = 100;

type Write = (n: number) => string;

/**
 * Writes `count` changesets and delivers their outcomes. Returns the number of SQLite statement steps per changeset.
 */
function stepsPerChangeset(
  count: number,
  write: Write,
  outcomesOf: (from: number, to: number) => Outcome[] = admitted,
): number {
  const database = openInMemory({ schema });
  const sync = testSync(database);
  sync.greet(testWelcome());
  const put = (sql: string): void =>
    void database.write({ id: `${sql}${Math.random()}`, statements: [{ sql, params: [] }] });
  put(`INSERT INTO page (id, title, reads, content) VALUES ('p', 'a', 0, '{"n":0}')`);
  sync.applyDelivery(testDelivery({ from: 0, to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
  for (let n = 1; n <= count; n++) put(write(n));
  // Another site wrote to the row first, and the pending changes cover those values.
  sync.applyDelivery(
    testDelivery({
      from: 1,
      to: 2,
      lastAckedSequence: 1,
      groups: [testGroup('update', page, [{ id: 'p', title: 'covered', reads: 5n }])],
    }),
  );
  try {
    const steps = stepsIn(() => {
      for (let from = 2; from <= count + 1; from += AT_ONCE) {
        const to = Math.min(from + AT_ONCE - 1, count + 1);
        sync.applyDelivery(testDelivery({ from, to: to + 1, lastAckedSequence: to, outcomes: outcomesOf(from, to) }));
      }
    });
    expect(database.outbox.pendingCount()).toBe(0);
    expect(coveredCellCount(database)).toBe(0);
    return steps / count;
  } finally {
    database.close();
  }
}

/** Counts the steps of statements. A spy would keep the arguments and the result of each. */
function stepsIn(body: () => void): number {
  const { step } = Statement.prototype;
  let steps = 0;
  Statement.prototype.step = function (...given) {
    steps++;
    return step.apply(this, given);
  };
  try {
    body();
    return steps;
  } finally {
    Statement.prototype.step = step;
  }
}

const coveredCellCount = (database: OpenDatabase): unknown =>
  database.connection.value('SELECT count(*) FROM rockpool_base');
const tenthRejected = (from: number, to: number): Outcome[] =>
  admitted(from, to).map((outcome): Outcome =>
    outcome.sequence % 10 === 0
      ? { kind: 'rejected', sequence: outcome.sequence, code: 'constraint-check', fields: {} }
      : outcome,
  );

describe('the cost of an outcome', () => {
  it.each<[what: string, write: Write, outcomesOf?: typeof tenthRejected]>([
    ['a column', (n) => `UPDATE page SET title = '${n}'`],
    ['a counter', () => 'UPDATE page SET reads = reads + 1'],
    ['a document', (n) => `UPDATE page SET content = json_set(content, '$.n', ${n})`],
    ['a row each', (n) => `INSERT INTO page (id, title, reads, content) VALUES ('${n}', 'a', 0, NULL)`],
    ['a column, and every tenth is rejected', (n) => `UPDATE page SET title = '${n}'`, tenthRejected],
  ])('does not depend on the number of pending changesets: %s', (_, write, outcomesOf) => {
    const [few, many] = [stepsPerChangeset(500, write, outcomesOf), stepsPerChangeset(2_000, write, outcomesOf)];
    expect(many).toBeLessThan(1.3 * few);
  });
});

describe('the cost of an outcome with many pending changes of one row', () => {
  const ROW: RowRef = { tableId: 1, key: ['p'], keyText: 'p' };
  const changesetOf = (sequence: number): PendingChangeset => ({
    sequence,
    base: 0,
    groups: [{ tableId: 1, kind: 'update', rowCount: 1, keys: [['p']], columnIds: [2], values: [[BigInt(sequence)]] }],
    before: [{ columnIds: [2], values: [[BigInt(sequence - 1)]] }],
    cellBases: [],
    masked: false,
  });

  function pendingOf(count: number): { readonly pending: PendingIndex; readonly ref: RowRef } {
    const pending = new PendingIndex();
    for (let sequence = 1; sequence <= count; sequence++) pending.add(changesetOf(sequence));
    return { pending, ref: pending.rowsOf(1)[0] ?? ROW };
  }

  it('a delivery of outcomes reads only the values of the acknowledged changesets', () => {
    const reads = (count: number): number => {
      const { pending, ref } = pendingOf(count);
      let found = 0;
      const counting = pending.changesOf(ref).map((change): PendingRowChange => ({
        ...change,
        get values() {
          found++;
          return change.values;
        },
      }));
      const outcomeKinds = new Map(Array.from({ length: AT_ONCE }, (_, n) => [n + 1, 'admitted' as const]));
      const visible = { exists: true, values: new Map([[2, BigInt(count)]]) };
      const columns = { documents: new Map(), policies: tablePolicies([]) };
      const after = rebaseRow({ visible, covered: new Map(), pending: counting, columns }, [], {
        outcomeKinds,
        maskedBefore: new Set(),
        maskedAfter: new Set(),
      });
      expect([after.serverRow.values.get(2), after.visible.values.get(2)]).toEqual([BigInt(AT_ONCE), BigInt(count)]);
      return found;
    };
    expect(reads(5_000)).toBe(reads(500));
  });

  it('a delivery looks up outcomes among pending changes once', () => {
    const { pending, ref } = pendingOf(1_000);
    let reads = 0;
    for (const change of pending.changesOf(ref)) {
      const { sequence } = change;
      Object.defineProperty(change, 'sequence', { get: () => (reads++, sequence) });
    }
    pending.remove(Array.from({ length: 500 }, (_, n) => n + 1));
    expect(pending.changesOf(ref)).toHaveLength(500);
    expect(reads).toBeLessThan(3 * 1_000);
    reads = 0;
    expect(pending.changeOf(ref, 700)?.sequence).toBe(700);
    expect(reads).toBeLessThan(30);
  });
});

const plain = testTable('plain', { id: 'text not null', title: 'text' });

describe('the cost of a delivery', () => {
  /** Returns the statements that the last of several deliveries runs, and checks that none has to be compiled. */
  function statementsOf(delivery: (from: number) => Parameters<typeof testDelivery>[0], writes = 0): string[] {
    const database = openInMemory({ schema: buildSchema([plain]) });
    const sync = testSync(database);
    sync.greet(testWelcome());
    for (let n = 1; n <= writes; n++)
      database.write({ id: `${n}`, statements: [{ sql: 'INSERT INTO plain (id) VALUES (?)', params: [`${n}`] }] });
    const deliver = (from: number): unknown => sync.applyDelivery(testDelivery({ ...delivery(from) }));
    for (let from = 0; from < 3; from++) deliver(from);
    const prepare = vi.spyOn(database.connection, 'prepare');
    const compile = vi.spyOn(database.connection.runtime.module, '_sqlite3_prepare_v3');
    try {
      deliver(3);
      expect(compile).not.toHaveBeenCalled();
      return prepare.mock.calls.map(([sql]) => sql.replace(/ (?:INTO |FROM )?"?(rockpool_\w+)?.*/s, ' $1').trim());
    } finally {
      prepare.mockRestore();
      compile.mockRestore();
      database.close();
    }
  }

  it('is one transaction that writes the row and the cursor if the change is from another device', () => {
    const statements = statementsOf((from) => ({
      from,
      to: from + 1,
      groups: [testGroup('update', plain, [{ id: 'p', title: `${from}` }])],
    }));
    expect(statements).toEqual(['BEGIN', 'UPDATE', 'INSERT rockpool_meta', 'COMMIT']);
  });

  it('is one transaction that writes the last acknowledged sequence and the cursor if the delivery has an outcome', () => {
    const statements = statementsOf((from) => {
      const to = from + 1;
      return { from, to, lastAckedSequence: to, outcomes: admitted(to, to) };
    }, 5);
    expect(statements).toEqual(['BEGIN', 'INSERT rockpool_meta', 'UPDATE rockpool_decided', 'SELECT', 'COMMIT']);
  });
});
