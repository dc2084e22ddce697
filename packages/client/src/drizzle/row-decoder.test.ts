import { getTableColumns, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import { createRowDecoder, type SelectedField } from './row-decoder.ts';

const todo = sqliteTable('todo', {
  id: text().primaryKey(),
  title: text(),
  done: integer({ mode: 'boolean' }),
  tags: text({ mode: 'json' }),
});
const columns = getTableColumns(todo);
const field = (path: string, selected: unknown): SelectedField => ({ path: path.split('.'), field: selected });

describe('a row decoder', () => {
  it('puts each decoded value at the path that the query selected for it', () => {
    const decode = createRowDecoder(
      [field('id', columns.id), field('a.b.done', columns.done), field('a.n', sql<number>`1`)],
      null,
    );
    expect(decode({ c0: 'x', c1: 1, c2: 7 })).toEqual({ id: 'x', a: { b: { done: true }, n: 7 } });
  });

  it('does not decode NULL', () => {
    expect(
      createRowDecoder([field('tags', columns.tags), field('done', columns.done)], null)({ c0: null, c1: null }),
    ).toEqual({ tags: null, done: null });
  });

  it('creates a new object for each row', () => {
    const decode = createRowDecoder([field('id', columns.id), field('a.title', columns.title)], null);
    const row = { c0: 'x', c1: 'y' };
    expect(decode(row)).not.toBe(decode(row));
    expect((decode(row) as { a: object }).a).not.toBe((decode(row) as { a: object }).a);
  });

  it('returns null for a joined table only if all its columns are NULL', () => {
    const fields = [field('todo.title', columns.title), field('todo.id', columns.id)];
    const outer = createRowDecoder(fields, { todo: false });
    expect(outer({ c0: null, c1: null })).toEqual({ todo: null });
    expect(outer({ c0: null, c1: 'x' })).toEqual({ todo: { title: null, id: 'x' } });
    expect(createRowDecoder(fields, { todo: true })({ c0: null, c1: null })).toEqual({
      todo: { title: null, id: null },
    });
  });

  it('names the column of an undecodable value without the value', () => {
    const decode = createRowDecoder([field('todo.tags', columns.tags)], null);
    let thrown: unknown = null;
    try {
      decode({ c0: 'secret-4711' });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'internal', fields: { column: 'todo.tags' } });
    expect((thrown as Error).cause).toBeUndefined();
    expect(String(thrown)).not.toContain('4711');
  });
});
