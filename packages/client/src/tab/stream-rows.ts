import { decodeRows } from '../rpc/rows-transfer.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow } from '../rpc/sql-value.ts';
import type { WorkerApi } from '../rpc/worker-api.ts';

/** Calls the worker's methods for streams. */
export interface StreamSource {
  call<T>(run: (worker: Pick<WorkerApi, 'openStream' | 'nextChunk' | 'closeStream'>) => Promise<T>): Promise<T>;
}

let lastStreamId = 0;

/** Fetches at most one chunk ahead of the loop. */
export async function* streamRows(source: StreamSource, statement: SqlStatement): AsyncGenerator<SqlRow[], void, void> {
  const streamId = ++lastStreamId;
  await source.call((worker) => worker.openStream(streamId, statement));
  try {
    for (;;) {
      const chunk = await source.call((worker) => worker.nextChunk(streamId));
      if (chunk === null) return;
      yield decodeRows(chunk);
    }
  } finally {
    // A closed client has no open streams.
    await source.call((worker) => worker.closeStream(streamId)).catch(() => undefined);
  }
}
