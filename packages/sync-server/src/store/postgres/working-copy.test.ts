import type { CellValue } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { sampleSchema } from '@rockpool/shared/testing';
import { mirroredTables } from './mirrored-table.ts';
import { openCopyFile, WorkingCopy } from './working-copy.ts';

const POSITION = { head: 1, commitId: new Uint8Array(16) };

function openCopy(): WorkingCopy {
  const tables = new Map(mirroredTables(sampleSchema).map((table) => [table.name, table]));
  return new WorkingCopy(openCopyFile(':memory:', sampleSchema, 'budget'), tables, POSITION);
}

type Statement = readonly [sql: string, ...parameters: CellValue[]];

/** Commits statements on the first copy, and follows on the others. */
function commit([first, ...others]: readonly WorkingCopy[], ...statements: readonly Statement[]): void {
  const changeset = first?.rehearse(() => {
    for (const [sql, ...parameters] of statements) first.file.sql.run(sql, ...parameters);
  }).changeset;
  for (const copy of [first, ...others]) copy?.apply(changeset ?? new Uint8Array(), POSITION);
}

const rowsOf = ({ file }: WorkingCopy, table: string): unknown[] =>
  file.sql.all(`SELECT * FROM ${table} ORDER BY 1, 2`);

it('follows inserts, updates and deletes of another copy', () => {
  const copies = [openCopy(), openCopy()] as const;
  commit(
    copies,
    ['INSERT INTO account VALUES (?, ?, ?, ?)', 'a', 'Cash', 1.5, new Uint8Array([1, 0, 2])],
    ['INSERT INTO account VALUES (?, ?, ?, ?)', 'b', 'Bank', null, null],
    ['INSERT INTO rate VALUES (?, ?, ?)', '2026-01', 1n, 0.5],
    ['INSERT INTO rate VALUES (?, ?, ?)', '2026-01', 2n, 0.25],
  );
  commit(
    copies,
    ['UPDATE account SET balance = NULL, picture = ? WHERE id = ?', new Uint8Array(), 'a'],
    ['DELETE FROM account WHERE id = ?', 'b'],
    ['UPDATE rate SET value = 2.0 WHERE code = 2'],
    ['UPDATE rate SET month = ? WHERE code = 1', '2026-02'],
  );
  for (const copy of copies) {
    expect(rowsOf(copy, 'account')).toEqual([['a', 'Cash', null, new Uint8Array()]]);
    expect(rowsOf(copy, 'rate')).toEqual([
      ['2026-01', 2n, 2],
      ['2026-02', 1n, 0.5],
    ]);
  }
});

it('follows rows that swap a unique value', () => {
  const copies = [openCopy(), openCopy()] as const;
  const insert = 'INSERT INTO account (id, name) VALUES (?, ?)';
  commit(copies, [insert, 'a', 'Cash'], [insert, 'b', 'Bank']);
  const rename = 'UPDATE account SET name = ? WHERE id = ?';
  commit(copies, [rename, 'x', 'a'], [rename, 'Cash', 'b'], [rename, 'Bank', 'a']);
  for (const copy of copies)
    expect(rowsOf(copy, 'account')).toEqual([
      ['a', 'Bank', null, null],
      ['b', 'Cash', null, null],
    ]);
});

it.each(['UPDATE account SET balance = 2.0', 'DELETE FROM account'])(
  'fails and keeps its rows if it lacks a row of the commit %s',
  (change) => {
    const [copy, diverged] = [openCopy(), openCopy()];
    commit([copy, diverged], ['INSERT INTO account (id, name) VALUES (?, ?)', 'a', 'Cash']);
    commit([copy], ['INSERT INTO account (id, name) VALUES (?, ?)', 'b', 'Bank']);
    expect(() => commit([copy, diverged], [change])).toThrow('the working copy lacks a row of account');
    expect(rowsOf(diverged, 'account')).toEqual([['a', 'Cash', null, null]]);
  },
);
