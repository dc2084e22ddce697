import { RockpoolError, type Schema } from '@rockpool/shared';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import type { PastMoment } from './interface/past-state.ts';
import type { RowHistory } from './interface/row-history.ts';
import type { ClientSession } from './client-session.ts';
import { deviceHistory } from './history/device-versions.ts';
import type { DocumentPlaces } from './history/document-history.ts';
import { historyRow, restoreStatement, selectRow } from './history/history-row.ts';
import { createRowHistory } from './history/row-history.ts';
import { createVersionNames } from './history/version-names.ts';
import type { ChangesetMoment } from './history/past-state.ts';
import { toKeyValues, type RowKey } from './rpc/row-key.ts';
import { eachChangeOf } from './tab/each-change.ts';

type NamedMoment = Extract<PastMoment, { readonly name: string }>;

interface OpenedRow {
  readonly table: string;
  readonly key: RowKey;
  readonly loadDocuments: () => Promise<DocumentPlaces>;
}

/** Resolves with the transaction of a named version. Throws like historyRow, and `version-name-missing`. */
export async function findNamedMoment(
  client: Pick<Client, 'query' | 'transaction'>,
  schema: Schema,
  { table, key, column, name }: NamedMoment,
): Promise<ChangesetMoment> {
  const row = historyRow(schema, table, toKeyValues(key));
  const { siteId, sequence } = await createVersionNames(client, schema, row).find(column ?? null, name);
  return { siteId, sequence };
}

/** See Client.history. */
export function openRowHistory(
  client: Pick<Client, 'query' | 'execute' | 'transaction' | 'rowSyncState' | 'live' | 'status'>,
  session: Pick<ClientSession, 'call' | 'onProblem'>,
  { schema, sync }: Pick<ClientOptions, 'schema' | 'sync'>,
  { table: tableName, key, loadDocuments }: OpenedRow,
): RowHistory {
  const row = historyRow(schema, tableName, toKeyValues(key));
  const names = createVersionNames(client, schema, row);
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
      const followed = names.statement === null ? [selectRow(row)] : [selectRow(row), names.statement];
      const stops = followed.map((statement) => client.live(eachChangeOf(statement)).subscribe(onRow));
      stops.push(client.status.subscribe(onStatus));
      return () => stops.forEach((stop) => stop());
    },
    names,
    async restore(values, columns) {
      const { changes } = await client.execute(restoreStatement(row, values, columns));
      if (changes === 0 && columns !== undefined) throw new RockpoolError('row-missing', { table: tableName });
    },
    change: async (column, next) =>
      client.transaction(async (tx) => {
        const [now] = await tx.query(selectRow(row));
        if (now === undefined) throw new RockpoolError('row-missing', { table: tableName });
        const text = now[column];
        const value = next(typeof text === 'string' ? text : null);
        await tx.execute(restoreStatement(row, { [column]: value }, [column]));
      }),
    loadDocuments,
    onProblem: session.onProblem,
    nowMs: Date.now,
  });
}
