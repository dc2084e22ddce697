import { is, SQL } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import { sqlWithResultColumns } from './result-columns.ts';

type BuildRelationalQuery = SQLiteAsyncDialect['buildRelationalQuery'];

/**
 * Drizzle's SQL, except that the rows of relational queries come with the names of result-columns.ts. A session hears nothing of how many columns
 * such a query has, and they do collide: a relation may be called as a column is.
 */
export class RelationalDialect extends SQLiteAsyncDialect {
  override buildRelationalQuery(config: Parameters<BuildRelationalQuery>[0]): ReturnType<BuildRelationalQuery> {
    const built = super.buildRelationalQuery(config);
    // Drizzle comes back here for the relations inside, and those it reads by its own names.
    if (config.nestedQueryRelation !== undefined || !is(built.sql, SQL)) return built;
    return { ...built, sql: sqlWithResultColumns(built.sql, built.selection.length) };
  }
}
