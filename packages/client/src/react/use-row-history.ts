import type { Client, RowHistory, RowHistoryState, RowKey } from '@rockpool/client';
import { useEffect, useState } from 'react';
import { useMaybeClient } from './client-context.ts';

/** The history of a row in a component. */
export interface RowHistoryInUse {
  /** The open history, for reading older versions and for restoring; null while it is opening and if opening failed. */
  readonly history: RowHistory | null;
  /** The newest versions; null until the history is open. */
  readonly state: RowHistoryState | null;
  /** Why the history could not be opened (`history-not-kept`: the schema declares none). */
  readonly error: Error | null;
}

interface Known {
  readonly client: Client;
  readonly of: string;
  readonly inUse: RowHistoryInUse;
}

const OPENING: RowHistoryInUse = Object.freeze({ history: null, state: null, error: null });

/**
 * Opens the history of a row while the component is mounted, and renders again when it changes. An array literal as
 * `key` is fine.
 *
 * ```tsx
 * const { history, state } = useRowHistory('entry', id);
 * return state?.versions.map(({ version, author, changes }) => <Version key={version} author={author} changes={changes}
 * onRestore={() => version !== null && history?.restore(version)} />);
 * ```
 */
export function useRowHistory(table: string, key: RowKey): RowHistoryInUse {
  const client = useMaybeClient();
  const [known, setKnown] = useState<Known | null>(null);
  const of = JSON.stringify([table, key], (_name, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
  useEffect(() => {
    if (client === null) return undefined;
    let isShown = true;
    let stop = (): void => undefined;
    client.history(table, key).then(
      (history) => {
        if (!isShown) return;
        stop = history.subscribe((state) =>
          setKnown({ client, of, inUse: { history, state: state.loading ? null : state, error: null } }),
        );
      },
      (error: Error) => {
        if (isShown) setKnown({ client, of, inUse: { ...OPENING, error } });
      },
    );
    return () => {
      isShown = false;
      stop();
    };
    // `of` identifies table and key, because the caller may pass a new array each time.
  }, [client, of]);
  return known?.client === client && known.of === of ? known.inUse : OPENING;
}
