import type { Client } from '@rockpool/client';
import Papa from 'papaparse';
import { minorToDecimalText } from '../money/format.ts';
import { entryLineCount, exportedLines, type CountRow, type ExportedLineRow } from '../queries/export.ts';

/** The methods of the client that exports use to read. */
export type Reader = Pick<Client, 'query' | 'stream'>;

export interface ExportProgress {
  readonly writtenCount: number;
  readonly totalCount: number;
}

const header = ['Date', 'Account', 'Payee', 'Memo', 'Category', 'Amount', 'Currency', 'Status', 'Entry'];

/**
 * Exports every entry of one account, or of all accounts (`accountId` null), as CSV, oldest first. An entry has one
 * line, or one line per part if it is split, so that the amounts add up. Amounts are exact, with a decimal point. This
 * app's import can read the file. Everything is read from one snapshot.
 */
export async function exportCsv(
  reader: Reader,
  onProgress: (progress: ExportProgress) => void,
  accountId: string | null = null,
): Promise<Blob> {
  const [{ count: totalCount } = { count: 0 }] = await reader.query<CountRow>(entryLineCount, [accountId]);
  // A byte order mark: without it, spreadsheet programs misread UTF-8.
  const texts = [`\ufeff${Papa.unparse([header])}\r\n`];
  let writtenCount = 0;
  for await (const rows of reader.stream<ExportedLineRow>(exportedLines, [accountId])) {
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
