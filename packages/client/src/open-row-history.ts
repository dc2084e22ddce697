import { RockpoolError } from '@rockpool/shared';
import type { Client, ClientOptions, RowHistory, RowKey } from './client.ts';
import type { ClientSession } from './client-session.ts';
import { deviceHistory } from './history/device-versions.ts';
import { historyRow, restoreStatement, selectRow } from './history/history-row.ts';
import { createRowHistory } from './history/row-history.ts';
import { toKeyValues } from './rpc/row-key.ts';

/** See Client.history. */
export function openRowHistory(
  client: Pick<Client, 'query' | 'execute' | 'rowSyncState' | 'live' | 'status'>,
  session: Pick<ClientSession, 'call' | 'onProblem'>,
  { schema, sync }: Pick<ClientOptions, 'schema' | 'sync'>,
  tableName: string,
  key: RowKey,
): RowHistory {
  const row = historyRow(schema, tableName, toKeyValues(key));
  return createRowHistory({
    row,
    request: sync === undefined ? null : (path) => session.call((worker) => worker.request(path)),
    deviceHistory: () =>
      deviceHistory(row, {
        query: (statement) => client.query(statement),
        syncState: () => client.rowSyncState(tableName, key),
        principal: sync?.principal ?? null,
      }),
    follow(onRow, onStatus) {
      const stops = [client.live(selectRow(row)).subscribe(onRow), client.status.subscribe(onStatus)];
      return () => stops.forEach((stop) => stop());
    },
    async restore(values, columns) {
      const { changes } = await client.execute(restoreStatement(row, values, columns));
      if (changes === 0 && columns !== undefined) throw new RockpoolError('row-missing', { table: tableName });
    },
    onProblem: session.onProblem,
    nowMs: Date.now,
  });
}
