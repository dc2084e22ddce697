import type { DrizzleMigrations } from '../client.ts';
import type { Migration } from '../rpc/migration.ts';

/** The migrations in the order of the journal. `missing`: those whose SQL is not there. */
export function readMigrations({ journal, migrations }: DrizzleMigrations): {
  readonly migrations: readonly Migration[];
  readonly missing: readonly string[];
} {
  const entries = [...journal.entries].sort((a, b) => a.idx - b.idx);
  const found = entries.map(({ idx, tag }) => ({ tag, sql: sqlOf(migrations, idx, tag) }));
  return {
    migrations: found.flatMap(({ tag, sql }) => (sql === undefined ? [] : [{ tag, sql }])),
    missing: found.flatMap(({ tag, sql }) => (sql === undefined ? [tag] : [])),
  };
}

/** drizzle-kit names them `m0000`, a bundler's glob by their paths. */
function sqlOf(migrations: Readonly<Record<string, string>>, idx: number, tag: string): string | undefined {
  const names = [`m${String(idx).padStart(4, '0')}`, tag];
  return Object.entries(migrations).find(([name]) => names.includes(name) || name.endsWith(`${tag}.sql`))?.[1];
}
