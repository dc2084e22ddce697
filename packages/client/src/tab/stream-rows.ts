import { decodeRows, type EncodedRows } from '../rpc/rows-transfer.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow } from '../rpc/sql-value.ts';

/** The worker's interface for streams. */
export interface StreamSource {
  openStream(streamId: number, statement: SqlStatement): Promise<void>;
  nextChunk(streamId: number): Promise<EncodedRows | null>;
  closeStream(streamId: number): Promise<void>;
}

let lastStreamId = 0;

/** Fetches at most one chunk ahead of the loop. */
export async function* streamRows(source: StreamSource, statement: SqlStatement): AsyncGenerator<SqlRow[], void, void> {
  const streamId = ++lastStreamId;
  await source.openStream(streamId, statement);
  try {
    for (;;) {
      const chunk = await source.nextChunk(streamId);
      if (chunk === null) return;
      yield decodeRows(chunk);
    }
  } finally {
    // A closed client has no open streams.
    await source.closeStream(streamId).catch(() => undefined);
  }
}
