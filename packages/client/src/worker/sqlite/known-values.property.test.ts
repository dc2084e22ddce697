import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { Meta } from '../file/meta.ts';
import { Connection } from './connection.ts';
import { loadSqlite } from './load-sqlite.node.ts';

const runtime = await loadSqlite();

const LAST = 'SELECT id, note FROM rockpool_one ORDER BY id DESC LIMIT 1';
const COUNT = 'SELECT count(*) FROM rockpool_two';

const ID: Arbitrary<number> = fc.integer({ min: 1, max: 4 });

/** Statements of every kind that may change or undo something. Those that do not fit the current state fail. */
const STATEMENTS: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'BEGIN',
    'BEGIN IMMEDIATE',
    'COMMIT',
    'ROLLBACK',
    'SAVEPOINT part',
    'RELEASE part',
    'ROLLBACK TO part',
    'rollback to part',
    ' ROLLBACK',
    'DELETE FROM rockpool_two',
  ),
  ID.map((id) => `INSERT INTO rockpool_one VALUES (${id}, 'new')`),
  ID.map((id) => `INSERT OR ROLLBACK INTO rockpool_one VALUES (${id}, 'new')`),
  ID.map((id) => `INSERT OR REPLACE INTO rockpool_one VALUES (${id}, 'newer')`),
  ID.map((id) => `INSERT INTO rockpool_one VALUES (${id}, 'new'), (1, 'another')`),
  ID.map((id) => `UPDATE rockpool_one SET note = note || '.' WHERE id = ${id} RETURNING id`),
  ID.map((id) => `DELETE FROM "rockpool_one" WHERE id = ${id}`),
  ID.map((id) => `INSERT INTO rockpool_two SELECT id FROM rockpool_one WHERE id <= ${id}`),
);

const STEPS = fc.array(
  fc.record({
    kind: fc.constantFrom('run', 'exec', 'cursor', 'principal'),
    sql: STATEMENTS,
    cursor: fc.integer({ min: 0, max: 9 }),
    /** Some steps do not read, because reading makes a value known. */
    isRead: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);

it('known values equal the file after every statement, rollback and failure', () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const connection = new Connection(runtime, { path: ':memory:', isOnlyWriter: true });
      connection.exec(
        `CREATE TABLE rockpool_one (id INTEGER PRIMARY KEY, note TEXT); CREATE TABLE rockpool_two (id INTEGER);
         CREATE TABLE rockpool_meta (key TEXT PRIMARY KEY, value)`,
      );
      const meta = new Meta(connection);
      try {
        for (const { kind, sql, cursor, isRead } of steps) {
          try {
            if (kind === 'cursor') meta.setCursor(cursor, new Uint8Array([cursor]));
            else if (kind === 'principal') meta.set('principal', `${cursor}`);
            else if (kind === 'run') connection.rows(sql);
            else connection.exec(sql);
          } catch {
            // The statement does not fit the current state, or its constraint fails.
          }
          if (!isRead) continue;
          expect(connection.knownRow('rockpool_one', LAST)).toEqual(connection.rows(LAST)[0]);
          expect(connection.knownValue('rockpool_two', COUNT)).toBe(connection.value(COUNT));
          const key = (['cursor', 'cursor_link', 'principal'] as const)[cursor % 3] ?? 'cursor';
          expect(meta.get(key)).toEqual(connection.value('SELECT value FROM rockpool_meta WHERE key = ?', key));
        }
      } finally {
        connection.close();
      }
    }),
    { numRuns: atLevel({ test: 400, verify: 1_000 }) },
  );
});
