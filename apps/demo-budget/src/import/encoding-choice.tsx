import type { ReactNode } from 'react';
import { locale } from '../shell/locale.ts';
import type { ChosenFile } from './chosen-file.ts';
import { encodings, encodingWords, type Encoding } from './file/encoding.ts';

export interface EncodingChoiceProps {
  readonly file: Pick<ChosenFile, 'encoding' | 'unreadableCount'>;
  readonly onEncoding: (encoding: Encoding) => void;
}

/** The detected encoding of the text. Changing it re-reads the file. */
export function EncodingChoice({ file: { encoding, unreadableCount }, onEncoding }: EncodingChoiceProps): ReactNode {
  return (
    <label>
      Encoding
      <select value={encoding} onChange={(event) => onEncoding(event.target.value as Encoding)}>
        {encodings.map((known) => (
          <option key={known} value={known}>
            {encodingWords[known]}
          </option>
        ))}
      </select>
      {unreadableCount > 0 && (
        <span className="problem">
          {unreadableCount === 1
            ? '1 character cannot be read.'
            : `${unreadableCount.toLocaleString(locale)} characters cannot be read.`}
        </span>
      )}
    </label>
  );
}
