import type { Client, LiveQuery, LiveState, SqlParam, SqlRow, SqlStatement } from '@rockpool/client';
import { useMemo, useSyncExternalStore, type DependencyList } from 'react';
import { useMaybeClient } from './client-context.ts';

/**
 * Creates a live query of a client, for example `(client) => liveQuery(client, db.select().from(todo))` with Drizzle.
 */
export type MakeLiveQuery<Row> = (client: Client) => LiveQuery<Row>;

/**
 * Returns the rows of a query and renders again when a commit, here or elsewhere, changes the result. Unchanged rows
 * keep their object identity, so memoised children do not render again. The statement and its values are compared by
 * content and may be literals. During the first run of a changed statement, and on a server, `loading` is true and
 * there are no rows.
 *
 * ```tsx
 * const { rows, error, loading } = useLiveQuery<Todo>(sql`SELECT * FROM todo WHERE done = ${false}`);
 * ```
 *
 * A function creates any other live query, such as one of Drizzle. It runs again when one of `dependencies` changes, as
 * with `useMemo`:
 *
 * ```tsx
 * const { rows } = useLiveQuery((client) => liveQuery(client, db.select().from(todo).where(eq(todo.listId, listId))),
 * [listId]);
 * ```
 */
export function useLiveQuery<Row extends object = SqlRow>(
  statement: SqlStatement | string,
  params?: readonly SqlParam[],
): LiveState<Row>;
export function useLiveQuery<Row>(make: MakeLiveQuery<Row>, dependencies: DependencyList): LiveState<Row>;
export function useLiveQuery<Row extends object>(
  given: SqlStatement | string | MakeLiveQuery<Row>,
  paramsOrDependencies?: readonly SqlParam[] | DependencyList,
): LiveState<Row> {
  const live = useLive(useMaybeClient(), given, paramsOrDependencies);
  const subscribe = live?.subscribe ?? subscribeToNothing;
  const read = (): LiveState<Row> => live?.current ?? LOADING;
  // The third argument also serves hydration: the first render matches the server's.
  return useSyncExternalStore(subscribe, read, () => LOADING);
}

/**
 * Returns the same object for equal statements, so that a render does not subscribe again. Null while there is no
 * client.
 */
function useLive<Row extends object>(
  client: Client | null,
  given: SqlStatement | string | MakeLiveQuery<Row>,
  paramsOrDependencies: readonly SqlParam[] | DependencyList = [],
): LiveQuery<Row> | null {
  const isMade = typeof given === 'function';
  // The caller passes the dependencies, so the lint rule cannot check them.
  const made = useMemo(
    () => (isMade && client !== null ? given(client) : null),
    isMade ? [client, ...paramsOrDependencies] : [],
  );
  if (isMade || client === null) return made;
  return typeof given === 'string'
    ? client.live<Row>(given, paramsOrDependencies as readonly SqlParam[])
    : client.live<Row>(given);
}

const LOADING: LiveState<never> = Object.freeze({ rows: [], error: null, loading: true });

function subscribeToNothing(): () => void {
  return () => undefined;
}
