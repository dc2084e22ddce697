import type { ReactNode } from 'react';
import type { FormatChoice } from './chosen-file.ts';

export interface TurnSignsProps {
  readonly formats: FormatChoice;
  readonly onFormats: (formats: FormatChoice) => void;
}

/** For banks that write spending without a minus sign. */
export function TurnSigns({ formats, onFormats }: TurnSignsProps): ReactNode {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={formats.turnSigns}
        onChange={(event) => onFormats({ ...formats, turnSigns: event.target.checked })}
      />
      Flip signs: this file shows spending without a minus
    </label>
  );
}
