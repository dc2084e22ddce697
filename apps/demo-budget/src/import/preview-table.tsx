import { useState, type ReactNode } from 'react';
import { Amount } from '../shell/amount.tsx';
import { formatDay } from '../shell/locale.ts';
import type { PreviewRow } from './rows/preview.ts';
import { rowProblemSentence } from './rows/problem.ts';

export interface PreviewTableProps {
  readonly rows: readonly PreviewRow[];
  readonly currency: string;
  readonly skipped: ReadonlySet<number>;
  readonly onSkip: (rowNumber: number, skip: boolean) => void;
}

/** Enough to see whether the columns are right. Rows with problems are always shown first: they need a decision. */
const rowsShown = 40;

/** The rows as they would be written. */
export function PreviewTable({ rows, currency, skipped, onSkip }: PreviewTableProps): ReactNode {
  const [limit, setLimit] = useState(rowsShown);
  const troubled = rows.filter((row) => row.problems.length > 0);
  const sound = rows.filter((row) => row.problems.length === 0);
  const shown = [...troubled, ...sound].slice(0, limit);
  return (
    <>
      <table role="table" className="preview" aria-label="Preview">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col" className="number">Row</th>
            <th role="columnheader" scope="col">Date</th>
            <th role="columnheader" scope="col">Payee and notes</th>
            <th role="columnheader" scope="col" className="number">Amount</th>
            <th role="columnheader" scope="col">What happens</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) => (
            <tr role="row" key={row.rowNumber} className={rowClass(row, skipped.has(row.rowNumber))}>
              <td role="cell" className="number preview-row">{row.rowNumber}</td>
              {row.draft === undefined ? (
                <td role="cell" colSpan={3} className="preview-raw">
                  {row.cells.join(' · ')}
                </td>
              ) : (
                <>
                  <td role="cell" className="preview-date">{formatDay(row.draft.date)}</td>
                  <td role="cell" className="preview-payee">
                    <span className="payee">{row.draft.payee === '' ? '—' : row.draft.payee}</span>
                    {row.draft.notes !== '' && <span className="notes">{row.draft.notes}</span>}
                  </td>
                  <td role="cell" className="number preview-amount">
                    <Amount minor={row.draft.amountMinor} currency={currency} signed />
                  </td>
                </>
              )}
              <td role="cell" className="preview-fate">
                <Fate row={row} skipped={skipped.has(row.rowNumber)} onSkip={onSkip} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > limit && (
        <button type="button" className="more" onClick={() => setLimit(limit + 10 * rowsShown)}>
          Show more of the {rows.length} rows
        </button>
      )}
    </>
  );
}

function rowClass(row: PreviewRow, skipped: boolean): string {
  if (skipped) return 'skipped';
  if (row.problems.length > 0) return 'troubled';
  return row.duplicate ? 'duplicate' : '';
}

function Fate({ row, skipped, onSkip }: { readonly row: PreviewRow; readonly skipped: boolean; readonly onSkip: PreviewTableProps['onSkip'] }): ReactNode {
  if (row.duplicate) return <span>Already there</span>;
  return (
    <>
      {row.problems.map((problem) => (
        <span key={problem.code} className="problem">
          {rowProblemSentence(problem)}
        </span>
      ))}
      <label className="check">
        <input type="checkbox" checked={skipped} onChange={(event) => onSkip(row.rowNumber, event.target.checked)} aria-label={`Skip row ${row.rowNumber}`} />
        Skip
      </label>
    </>
  );
}
