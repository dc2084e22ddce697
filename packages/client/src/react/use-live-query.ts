import { useMemo, useSyncExternalStore, type DependencyList } from 'react';
import type { Client, LiveQuery, LiveState, SqlParam, SqlRow, SqlStatement } from '../client.ts';
import { useMaybeClient } from './client-context.ts';

/** Makes a live query of a client, for example `(client) => liveQuery(client, db.select().from(todo))` with Drizzle. */
export type MakeLiveQuery<Row> = (client: Client) => LiveQuery<Row>;

/**
 * Rows that stay current: the component draws again when a commit, here or elsewhere, changed the result. Rows that did
 * not change are the same objects as before, so memoised children stay as they are. The statement and its values may be
 * written in place: they are compared by content. While a changed statement is being run for the first time, `loading`
 * is true and there are no rows; so it is on a server.
 *
 * ```tsx
 * const { rows, error, loading } = useLiveQuery<Todo>(sql`SELECT * FROM todo WHERE done = ${false}`);
 * ```
 *
 * Any other live query, such as one of Drizzle, is made by a function, anew when one of `dependencies` changes, as with
 * `useMemo`:
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
  // What a server drew is drawn once more here before anything else.
  return useSyncExternalStore(subscribe, read, () => LOADING);
}

/**
 * The same object for equal statements, so that drawing again does not subscribe again. Null while there is no client.
 */
function useLive<Row extends object>(
  client: Client | null,
  given: SqlStatement | string | MakeLiveQuery<Row>,
  paramsOrDependencies: readonly SqlParam[] | DependencyList = [],
): LiveQuery<Row> | null {
  const isMade = typeof given === 'function';
  // The lint rule for dependencies cannot know them: they are the caller's.
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
