import type { ReactNode } from 'react';
import { locale } from '../shell/locale.ts';
import type { ChosenFile, FileFormat, FormatChoice } from './chosen-file.ts';
import { DecimalMarkChoice, decimalMarkQuestion } from './decimal-mark-choice.tsx';
import { EncodingChoice } from './encoding-choice.tsx';
import type { Encoding } from './file/encoding.ts';
import { dateOrderWords } from './format-form.tsx';
import type { DateOrder } from './rows/dates.ts';
import { TurnSigns } from './turn-signs.tsx';

export interface StatementFormProps {
  readonly file: ChosenFile;
  readonly formats: FormatChoice;
  readonly onEncoding: (encoding: Encoding) => void;
  readonly onFile: (file: ChosenFile) => void;
  readonly onFormats: (formats: FormatChoice) => void;
}

const formatWords: Readonly<Record<FileFormat, string>> = { csv: 'CSV', ofx: 'OFX', qif: 'QIF', camt: 'CAMT' };

/**
 * For files whose format states almost everything: the user chooses which statement to import, and the order of dates
 * and the decimal mark of a QIF file, which does not state them.
 */
export function StatementForm({ file, formats, onEncoding, onFile, onFormats }: StatementFormProps): ReactNode {
  const statement = file.statements.find(({ table }) => table === file.table);
  const pendingCount = statement?.pendingCount ?? 0;
  return (
    <section className="card form" aria-label="Statement">
      <p className="hint">
        {file.fileName} · {formatWords[file.format]} ·{' '}
        {file.table.rows.length === 1 ? '1 entry' : `${file.table.rows.length.toLocaleString(locale)} entries`}
        {pendingCount > 0 &&
          ` · ${pendingCount === 1 ? '1 pending entry is' : `${pendingCount} pending entries are`} left out until the bank books ${pendingCount === 1 ? 'it' : 'them'}`}
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
                  {file.format === 'qif' ? accountNumber || `Account ${index + 1}` : `…${accountNumber}`} (
                  {table.rows.length})
                </option>
              ))}
            </select>
          </label>
        )}
        <EncodingChoice file={file} onEncoding={onEncoding} />
        {file.format === 'qif' && (
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
        )}
        {(file.format === 'qif' || file.format === 'ofx' || formats.decimalMarkOpen) && (
          <DecimalMarkChoice formats={formats} onFormats={onFormats} />
        )}
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
