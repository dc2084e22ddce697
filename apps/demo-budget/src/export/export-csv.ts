import type { Client } from '@rockpool/client';
import Papa from 'papaparse';
import { minorToDecimalText } from '../money/format.ts';
import { entryLineCount, exportedLines, type CountRow, type ExportedLineRow } from '../queries/export.ts';

/** The part of the client that exports read with. */
export type Reader = Pick<Client, 'query' | 'stream'>;

export interface ExportProgress {
  readonly writtenCount: number;
  readonly totalCount: number;
}

const header = ['Date', 'Account', 'Payee', 'Notes', 'Category', 'Amount', 'Currency', 'Status', 'Entry'];

/**
 * Every entry of every account as CSV, oldest first: a line for each, or for each part of a split one, so that amounts
 * add up. Amounts are exact, with a point. The import of this app reads it as well. All of one moment, whatever is
 * written meanwhile.
 */
export async function exportCsv(reader: Reader, onProgress: (progress: ExportProgress) => void): Promise<Blob> {
  const [{ count: totalCount } = { count: 0 }] = await reader.query<CountRow>(entryLineCount);
  // A byte order mark: without it, spreadsheet programs take UTF-8 for something else.
  const texts = [`\ufeff${Papa.unparse([header])}\r\n`];
  let writtenCount = 0;
  for await (const rows of reader.stream<ExportedLineRow>(exportedLines)) {
    texts.push(`${Papa.unparse(rows.map(cellsOf))}\r\n`);
    writtenCount += rows.length;
    onProgress({ writtenCount, totalCount });
  }
  return new Blob(texts, { type: 'text/csv;charset=utf-8' });
}

function cellsOf(row: ExportedLineRow): readonly string[] {
  return [
    row.date,
    row.accountName,
    row.payee,
    row.notes,
    row.categoryName ?? '',
    minorToDecimalText(row.amountMinor, row.currency),
    row.currency,
    row.status,
    row.entryId,
  ];
}
