import { encodeHistoryPage, encodeRowAtVersion } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import { readHistory, readRowAtVersion, type HistoryPageRequest, type RowAtVersionRequest } from './read-history.ts';
import type { WrittenRowsRequest } from './written-rows.ts';
import { readablePage, readableRow } from './readable-history.ts';

/** A question about the history of a row: plain data, so that it can be sent to another thread. */
export type RowHistoryRequest =
  | ({ readonly kind: 'page' } & HistoryPageRequest)
  | ({ readonly kind: 'row' } & RowAtVersionRequest);

export type HistoryRequest = RowHistoryRequest | ({ readonly kind: 'written' } & WrittenRowsRequest);

/** Returns an encoded HistoryPage or RowAtVersion. Throws like readHistory and readRowAtVersion. */
export function answerHistory(
  file: DatabaseFile,
  request: RowHistoryRequest,
  rows: ReadableRows,
  nowMs: number,
): Uint8Array<ArrayBuffer> {
  return request.kind === 'page'
    ? encodeHistoryPage(readablePage(file, request, readHistory(file, request, nowMs), rows), request.format)
    : encodeRowAtVersion(readableRow(file, request, readRowAtVersion(file, request, nowMs), rows));
}
