import { expect, it } from 'vitest';
import { readMigrations } from './read-migrations.ts';

it('misses the SQL of a migration that is loaded lazily or as a module', () => {
  const journal = { entries: ['lazy', 'module'].map((tag, idx) => ({ tag, idx })) };
  const migrations = { './lazy.sql': async () => 'SELECT 1', './module.sql': { default: 'SELECT 1' } };
  const read = readMigrations({ journal, migrations: migrations as unknown as Record<string, string> });
  expect(read).toEqual({ migrations: [], missing: ['lazy', 'module'] });
});

it('finds the SQL of a migration if the name of another migration ends with its name', () => {
  const journal = { entries: ['add_users', 'users'].map((tag, idx) => ({ tag, idx })) };
  const read = (folder: string): unknown =>
    readMigrations({ journal, migrations: { [`${folder}add_users.sql`]: 'first', [`${folder}users.sql`]: 'second' } });
  for (const folder of ['', './drizzle/'])
    expect(read(folder)).toEqual({
      migrations: [
        { tag: 'add_users', sql: 'first' },
        { tag: 'users', sql: 'second' },
      ],
      missing: [],
    });
});
