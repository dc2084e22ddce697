import type { RockpoolError, RowHistory, RowHistoryState } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useEffect, useState } from 'react';
import { momentsOf, type HistoryRow, type Moment } from './moments.ts';

export interface Histories {
  /** Newest first. */
  readonly moments: readonly Moment[];
  readonly loading: boolean;
  /**
   * The error if the server could not be reached, in which case only moments known to this device are listed; else
   * null.
   */
  readonly unasked: RockpoolError | null;
  /** Older moments are no longer kept. */
  readonly isTruncated: boolean;
  /** Loads older moments; null if there are none. */
  readonly more: (() => Promise<void>) | null;
}

interface Opened {
  readonly row: HistoryRow;
  readonly history: RowHistory;
  readonly state: RowHistoryState;
}

/** The histories of several rows as one, kept current. `rows` is null until they are known. */
export function useHistories(rows: readonly HistoryRow[] | null, onFailure: (error: unknown) => void): Histories {
  const client = useClient();
  const [opened, setOpened] = useState<ReadonlyMap<string, Opened>>(new Map());
  const names = JSON.stringify(rows);
  useEffect(() => {
    let isShown = true;
    const stops: (() => void)[] = [];
    setOpened(new Map());
    const open = async (row: HistoryRow): Promise<void> => {
      const history = await client.history(row.table, row.key);
      if (!isShown) return;
      stops.push(
        history.subscribe((state) => {
          if (isShown) setOpened((known) => new Map(known).set(`${row.table} ${row.key}`, { row, history, state }));
        }),
      );
    };
    for (const row of (JSON.parse(names) as HistoryRow[] | null) ?? [])
      open(row).catch((error: unknown) => isShown && onFailure(error));
    return () => {
      isShown = false;
      for (const stop of stops) stop();
    };
  }, [client, names, onFailure]);

  // In the order of the rows, regardless of which history loaded first.
  const shown = (rows ?? []).flatMap(({ table, key }) => opened.get(`${table} ${key}`) ?? []);
  const unfinished = shown.filter(({ state }) => state.next !== null);
  return {
    moments: momentsOf(shown.map(({ row, state }) => ({ row, page: state }))),
    loading: rows === null || shown.length < rows.length || shown.some(({ state }) => state.loading),
    unasked: shown.find(({ state }) => state.error !== null)?.state.error ?? null,
    isTruncated: unfinished.length === 0 && shown.some(({ state }) => state.isTruncated),
    more:
      unfinished.length === 0
        ? null
        : async () => {
            await Promise.all(unfinished.map(({ history }) => history.more()));
          },
  };
}
