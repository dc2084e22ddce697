import { Column, is, SQL, sql } from 'drizzle-orm';
import { SQLiteAsyncDialect, type SelectedFieldsOrdered } from 'drizzle-orm/sqlite-core';
import { resultColumn, sqlWithResultColumns } from './result-columns.ts';

type Config<Method extends 'buildInsertQuery' | 'buildUpdateQuery' | 'buildDeleteQuery'> = Parameters<
  SQLiteAsyncDialect[Method]
>[0];
type BuildRelationalQuery = SQLiteAsyncDialect['buildRelationalQuery'];

/**
 * Drizzle's SQL, except that the rows of relational queries and of `returning` use the names of result-columns.ts. A
 * session cannot find out how many columns a relational query has, and their names may collide: a relation may have the
 * name of a column. A write, unlike a query, cannot be nested in another statement, so its names go into `returning`.
 */
export class RelationalDialect extends SQLiteAsyncDialect {
  override buildRelationalQuery(config: Parameters<BuildRelationalQuery>[0]): ReturnType<BuildRelationalQuery> {
    const built = super.buildRelationalQuery(config);
    // Drizzle calls this again for nested relations, which it reads by its own names.
    if (config.nestedQueryRelation !== undefined || !is(built.sql, SQL)) return built;
    return { ...built, sql: sqlWithResultColumns(built.sql, built.selection.length) };
  }

  override buildInsertQuery(config: Config<'buildInsertQuery'>): SQL {
    return super.buildInsertQuery(withReturningColumns(config));
  }

  override buildUpdateQuery(config: Config<'buildUpdateQuery'>): SQL {
    return super.buildUpdateQuery(withReturningColumns(config));
  }

  override buildDeleteQuery(config: Config<'buildDeleteQuery'>): SQL {
    return super.buildDeleteQuery(withReturningColumns(config));
  }
}

function withReturningColumns<Config extends { returning?: SelectedFieldsOrdered | undefined }>(
  config: Config,
): Config {
  const { returning } = config;
  if (returning === undefined) return config;
  return {
    ...config,
    returning: returning.map(({ path, field }, position) => ({
      path,
      field: expressionOf(field).as(resultColumn(position)),
    })),
  };
}

function expressionOf(field: SelectedFieldsOrdered[number]['field']): SQL {
  if (is(field, SQL.Aliased)) return field.sql;
  if (is(field, SQL)) return field;
  // Drizzle reads such a column as text, because it would lose digits as a number.
  if (is(field, Column) && field.columnType === 'SQLiteNumericBigInt') return sql`cast(${field} as text)`;
  return sql`${field}`;
}
