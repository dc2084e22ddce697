import type { ReactNode } from 'react';
import type { ChosenFile, FormatChoice } from './chosen-file.ts';
import { TurnSigns } from './turn-signs.tsx';

export interface OfxFormProps {
  readonly file: ChosenFile;
  readonly formats: FormatChoice;
  readonly onFile: (file: ChosenFile) => void;
  readonly onFormats: (formats: FormatChoice) => void;
}

/** An OFX file describes itself almost completely; the user only chooses which of its statements to import. */
export function OfxForm({ file, formats, onFile, onFormats }: OfxFormProps): ReactNode {
  return (
    <section className="card form" aria-label="Statement">
      <p className="hint">
        {file.fileName} · OFX · {file.table.rows.length === 1 ? '1 entry' : `${file.table.rows.length} entries`}
      </p>
      <div className="fields">
        {file.statements.length > 1 && (
          <label>
            Statement of the account
            <select
              value={file.statements.findIndex(({ table }) => table === file.table)}
              onChange={(event) => {
                const chosen = file.statements[Number(event.target.value)];
                if (chosen !== undefined) onFile({ ...file, table: chosen.table });
              }}
            >
              {file.statements.map(({ accountNumber, table }, index) => (
                <option key={index} value={index}>
                  …{accountNumber} ({table.rows.length})
                </option>
              ))}
            </select>
          </label>
        )}
        <TurnSigns formats={formats} onFormats={onFormats} />
      </div>
    </section>
  );
}
