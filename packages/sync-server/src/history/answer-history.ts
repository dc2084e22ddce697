import { encodeHistoryPage, encodeRowAtVersion } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import { readHistory, readRowAtVersion, type HistoryPageRequest, type RowAtVersionRequest } from './read-history.ts';
import { readablePage, readableRow } from './readable-history.ts';

/** A question about the history of a row: plain data, so that it can be sent to another thread. */
export type HistoryRequest =
  | ({ readonly kind: 'page' } & HistoryPageRequest)
  | ({ readonly kind: 'row' } & RowAtVersionRequest);

/** Answers with an encoded HistoryPage or RowAtVersion. Throws as readHistory and readRowAtVersion. */
export function answerHistory(
  file: DatabaseFile,
  request: HistoryRequest,
  rows: ReadableRows,
  nowMs: number,
): Uint8Array<ArrayBuffer> {
  return request.kind === 'page'
    ? encodeHistoryPage(readablePage(file, request, readHistory(file, request, nowMs), rows))
    : encodeRowAtVersion(readableRow(file, request, readRowAtVersion(file, request, nowMs), rows));
}
