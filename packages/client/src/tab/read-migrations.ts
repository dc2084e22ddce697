import type { DrizzleMigrations } from '../interface/client-options.ts';
import type { Migration } from '../rpc/migration.ts';

/**
 * Returns the migrations in journal order, and in `missing` those without SQL. A bundler's glob without `eager` has
 * functions in place of the texts, and one without `import` has modules.
 */
export function readMigrations({ journal, migrations }: DrizzleMigrations): {
  readonly migrations: readonly Migration[];
  readonly missing: readonly string[];
} {
  const entries = [...journal.entries].sort((a, b) => a.idx - b.idx);
  const found = entries.map(({ idx, tag }) => ({ tag, sql: sqlOf(migrations, idx, tag) }));
  const hasSql = (one: { readonly sql: unknown }): one is Migration => typeof one.sql === 'string';
  return {
    migrations: found.filter(hasSql),
    missing: found.filter((one) => !hasSql(one)).map(({ tag }) => tag),
  };
}

/** drizzle-kit names them `m0000`; a bundler's glob names them by path. */
function sqlOf(migrations: Readonly<Record<string, string>>, idx: number, tag: string): string | undefined {
  return (
    migrations[`m${String(idx).padStart(4, '0')}`] ??
    migrations[tag] ??
    Object.entries(migrations).find(([name]) => `/${name}`.endsWith(`/${tag}.sql`))?.[1]
  );
}
