import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { keyOf } from '../shell/keys.ts';
import type { PreviewRow } from './rows/preview.ts';

export interface RowCorrectionProps {
  readonly row: PreviewRow;
  /** The columns that are read: their names in the file, with their indexes. */
  readonly columns: readonly { readonly column: number; readonly name: string }[];
  readonly onCorrect: (rowNumber: number, cells: readonly string[]) => void;
  readonly onCancel: () => void;
}

/** Edits the cells of one row, in the format of the file. */
export function RowCorrection({ row, columns, onCorrect, onCancel }: RowCorrectionProps): ReactNode {
  const [cells, setCells] = useState(row.cells);
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onCorrect(
      row.rowNumber,
      cells.map((cell) => cell.trim()),
    );
  };
  return (
    <form
      className="form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onCancel();
      }}
      aria-label={`Correct row ${row.rowNumber}`}
    >
      <div className="fields">
        {columns.map(({ column, name }, index) => (
          <label key={column} htmlFor={`${id}-${column}`}>
            {name}
            <input
              id={`${id}-${column}`}
              autoFocus={index === 0}
              autoComplete="off"
              value={cells[column] ?? ''}
              onChange={(event) =>
                setCells(
                  Array.from({ length: Math.max(cells.length, column + 1) }, (_, at) =>
                    at === column ? event.target.value : (cells[at] ?? ''),
                  ),
                )
              }
            />
          </label>
        ))}
      </div>
      <div className="buttons">
        <button type="submit" className="primary">
          Correct
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
