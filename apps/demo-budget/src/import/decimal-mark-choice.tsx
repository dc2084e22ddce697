import type { ReactNode } from 'react';
import type { DecimalMark } from '../money/parse.ts';
import type { FormatChoice } from './chosen-file.ts';

export interface DecimalMarkChoiceProps {
  readonly formats: FormatChoice;
  readonly onFormats: (formats: FormatChoice) => void;
}

const decimalMarkWords: Readonly<Record<DecimalMark, string>> = {
  comma: '1.234,56 (comma)',
  point: '1,234.56 (point)',
};

/** Shown below the fields while the user has to choose. */
export const decimalMarkQuestion =
  'The amounts in this file are ambiguous, such as 1.234 or 1234. Choose the decimal mark.';

/** The detected decimal mark of the amounts, which the user may correct. */
export function DecimalMarkChoice({ formats, onFormats }: DecimalMarkChoiceProps): ReactNode {
  return (
    <label>
      Decimal mark
      <select
        value={formats.decimalMarkOpen ? '' : formats.decimalMark}
        aria-invalid={formats.decimalMarkOpen}
        onChange={(event) =>
          onFormats({ ...formats, decimalMark: event.target.value as DecimalMark, decimalMarkOpen: false })
        }
      >
        {formats.decimalMarkOpen && <option value="">Please choose</option>}
        {Object.entries(decimalMarkWords).map(([mark, words]) => (
          <option key={mark} value={mark}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
