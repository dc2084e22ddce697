import { useState, type ReactNode } from 'react';
import { Amount } from '../shell/amount.tsx';
import { formatDay } from '../shell/locale.ts';
import { RowCorrection, type RowCorrectionProps } from './row-correction.tsx';
import type { ImportDraft, PreviewRow } from './rows/preview.ts';
import { rowProblemSentence } from './rows/problem.ts';

export interface PreviewTableProps {
  readonly rows: readonly PreviewRow[];
  readonly currency: string;
  readonly columns: RowCorrectionProps['columns'];
  readonly skipped: ReadonlySet<number>;
  /** Possible duplicates that the user imports anyway. */
  readonly kept: ReadonlySet<number>;
  /** Toggles whether the row is skipped. */
  readonly onSkip: (rowNumber: number) => void;
  readonly onKeep: (rowNumber: number) => void;
  readonly onCorrect: RowCorrectionProps['onCorrect'];
  /** The rules' changes to a row, in words; empty if there are none. */
  readonly ruledWords: (draft: ImportDraft) => string;
}

/** Enough to check the columns. Rows with problems or doubts are always shown first, because they need a decision. */
const rowsShown = 40;

/** The rows as they would be written. */
export function PreviewTable({
  rows,
  currency,
  columns,
  skipped,
  kept,
  onSkip,
  onKeep,
  onCorrect,
  ruledWords,
}: PreviewTableProps): ReactNode {
  const [corrected, setCorrected] = useState<number | null>(null);
  const [limit, setLimit] = useState(rowsShown);
  const troubled = rows.filter((row) => row.problems.length > 0);
  const doubtful = rows.filter((row) => row.alike !== null);
  const sound = rows.filter((row) => row.problems.length === 0 && row.alike === null);
  const shown = [...troubled, ...doubtful, ...sound].slice(0, limit);
  return (
    <>
      <table role="table" className="preview" aria-label="Preview">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col" className="number">
              Row
            </th>
            <th role="columnheader" scope="col">
              Date
            </th>
            <th role="columnheader" scope="col">
              Payee and memo
            </th>
            <th role="columnheader" scope="col" className="number">
              Amount
            </th>
            <th role="columnheader" scope="col">
              What happens
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) =>
            row.rowNumber === corrected ? (
              <tr role="row" key={row.rowNumber}>
                <td role="cell" colSpan={5} className="preview-correction">
                  <RowCorrection
                    row={row}
                    columns={columns}
                    onCorrect={(rowNumber, cells) => {
                      onCorrect(rowNumber, cells);
                      setCorrected(null);
                    }}
                    onCancel={() => setCorrected(null)}
                  />
                </td>
              </tr>
            ) : (
              <tr role="row" key={row.rowNumber} className={rowClass(row, isLeftOut(row, skipped, kept))}>
                <td role="cell" className="number preview-row">
                  {row.rowNumber}
                </td>
                {row.draft === undefined ? (
                  <td role="cell" colSpan={3} className="preview-raw">
                    {row.cells.join(' · ')}
                  </td>
                ) : (
                  <>
                    <td role="cell" className="preview-date">
                      {formatDay(row.draft.date)}
                    </td>
                    <td role="cell" className="preview-payee">
                      <span className="payee">{row.draft.payee === '' ? '—' : row.draft.payee}</span>
                      {row.draft.notes !== '' && <span className="notes">{row.draft.notes}</span>}
                      <RuledWords words={ruledWords(row.draft)} />
                    </td>
                    <td role="cell" className="number preview-amount">
                      <Amount minor={row.draft.amountMinor} currency={currency} signed />
                    </td>
                  </>
                )}
                <td role="cell" className="preview-fate">
                  <Fate
                    row={row}
                    skipped={skipped.has(row.rowNumber)}
                    kept={kept.has(row.rowNumber)}
                    onSkip={onSkip}
                    onKeep={onKeep}
                  />
                  {!row.duplicate && (
                    <button
                      type="button"
                      className="quiet"
                      aria-label={`Correct row ${row.rowNumber}`}
                      onClick={() => setCorrected(row.rowNumber)}
                    >
                      Correct
                    </button>
                  )}
                </td>
              </tr>
            ),
          )}
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

function RuledWords({ words }: { readonly words: string }): ReactNode {
  return words === '' ? null : <span className="preview-ruled">By your rules: {words}</span>;
}

function isLeftOut(row: PreviewRow, skipped: ReadonlySet<number>, kept: ReadonlySet<number>): boolean {
  return skipped.has(row.rowNumber) || (row.alike !== null && !kept.has(row.rowNumber));
}

function rowClass(row: PreviewRow, leftOut: boolean): string {
  if (leftOut) return 'skipped';
  if (row.problems.length > 0) return 'troubled';
  return row.duplicate ? 'duplicate' : '';
}

interface FateProps extends Pick<PreviewTableProps, 'onSkip' | 'onKeep'> {
  readonly row: PreviewRow;
  readonly skipped: boolean;
  readonly kept: boolean;
}

function Fate({ row, skipped, kept, onSkip, onKeep }: FateProps): ReactNode {
  if (row.duplicate) return <span>Already there</span>;
  if (row.alike !== null) {
    const { payee, date } = row.alike;
    return (
      <>
        <span>
          Possible duplicate of {payee === '' ? 'no payee' : payee}, {formatDay(date)}
        </span>
        <label className="check">
          <input
            type="checkbox"
            checked={kept}
            onChange={() => onKeep(row.rowNumber)}
            aria-label={`Import row ${row.rowNumber} anyway`}
          />
          Import anyway
        </label>
      </>
    );
  }
  return (
    <>
      {row.problems.map((problem) => (
        <span key={problem.code} className="problem">
          {rowProblemSentence(problem)}
        </span>
      ))}
      <label className="check">
        <input
          type="checkbox"
          checked={skipped}
          onChange={() => onSkip(row.rowNumber)}
          aria-label={`Skip row ${row.rowNumber}`}
        />
        Skip
      </label>
    </>
  );
}
