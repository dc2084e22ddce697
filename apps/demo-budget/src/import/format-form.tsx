import type { ReactNode } from 'react';
import { formatsOfColumns, type ChosenFile, type FormatChoice } from './chosen-file.ts';
import { DecimalMarkChoice, decimalMarkQuestion } from './decimal-mark-choice.tsx';
import { delimiters } from './file/delimiter.ts';
import { delimiterName, type Delimiter } from './file/problem.ts';
import { EncodingChoice } from './encoding-choice.tsx';
import type { Encoding } from './file/encoding.ts';
import type { ColumnRole } from './rows/columns.ts';
import type { DateOrder } from './rows/dates.ts';
import { locale } from '../shell/locale.ts';
import { TurnSigns } from './turn-signs.tsx';

export interface FormatFormProps {
  readonly file: ChosenFile;
  readonly formats: FormatChoice;
  readonly onEncoding: (encoding: Encoding) => void;
  readonly onDelimiter: (delimiter: Delimiter) => void;
  readonly onFormats: (formats: FormatChoice) => void;
}

const roleWords: readonly (readonly [ColumnRole, string])[] = [
  ['date', 'Date'],
  ['payee', 'Payee'],
  ['amount', 'Amount'],
  ['debit', 'Money out'],
  ['credit', 'Money in'],
  ['direction', 'Out or in'],
  ['notes', 'Memo'],
  ['currency', 'Currency'],
  ['bankId', 'Reference'],
  ['category', 'Category'],
];

export const dateOrderWords: Readonly<Record<DateOrder, string>> = {
  'day-month-year': '31.12.2025 (day first)',
  'month-day-year': '12/31/2025 (month first)',
  'year-month-day': '2025-12-31 (year first)',
  'year-day-month': '2025-31-12 (year, then day)',
};

/** Shows the detected formats and lets the user correct them. */
export function FormatForm({ file, formats, onEncoding, onDelimiter, onFormats }: FormatFormProps): ReactNode {
  const chooseColumn = (role: ColumnRole, column: number | null): void => {
    const columns = { ...formats.columns, [role]: column };
    // Amounts are in one column or in two, never both.
    if (column !== null && role === 'amount') Object.assign(columns, { debit: null, credit: null });
    if (column !== null && (role === 'debit' || role === 'credit')) columns.amount = null;
    onFormats({ ...formatsOfColumns(file.table, columns), turnSigns: formats.turnSigns });
  };

  return (
    <section className="card form" aria-label="Columns and formats">
      <p className="hint">
        {file.fileName} ·{' '}
        {file.table.rows.length === 1 ? '1 row' : `${file.table.rows.length.toLocaleString(locale)} rows`}
        {file.table.hasHeader ? '' : ' · no header row'}
      </p>
      <div className="fields compact">
        {roleWords.map(([role, word]) => (
          <label key={role}>
            {word}
            <select
              value={formats.columns[role] ?? ''}
              onChange={(event) => chooseColumn(role, event.target.value === '' ? null : Number(event.target.value))}
            >
              <option value="">—</option>
              {file.table.header.map((name, column) => (
                <option key={column} value={column}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        ))}
      </div>
      <div className="fields">
        <EncodingChoice file={file} onEncoding={onEncoding} />
        <label>
          Separator
          <select value={file.table.delimiter ?? ''} onChange={(event) => onDelimiter(event.target.value as Delimiter)}>
            {delimiters.map((delimiter) => (
              <option key={delimiter} value={delimiter}>
                {delimiterName(delimiter)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Date order
          <select
            value={formats.dateOrderOpen ? '' : formats.dateOrder}
            aria-invalid={formats.dateOrderOpen}
            onChange={(event) =>
              onFormats({ ...formats, dateOrder: event.target.value as DateOrder, dateOrderOpen: false })
            }
          >
            {formats.dateOrderOpen && <option value="">Please choose</option>}
            {Object.entries(dateOrderWords).map(([order, words]) => (
              <option key={order} value={order}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <DecimalMarkChoice formats={formats} onFormats={onFormats} />
        <TurnSigns formats={formats} onFormats={onFormats} />
      </div>
      {formats.dateOrderOpen && (
        <p className="problem">
          The dates in this file are ambiguous, such as 4 May or 5 April. Choose the date order.
        </p>
      )}
      {formats.decimalMarkOpen && <p className="problem">{decimalMarkQuestion}</p>}
    </section>
  );
}
