import type { DecimalMark } from '../../money/parse.ts';

export interface RecognisedDecimalMark {
  readonly mark: DecimalMark;
  /**
   * Whether both marks read the column but as different amounts (if all values are like `1.234`), so that the user has
   * to choose.
   */
  readonly ambiguous: boolean;
}

/**
 * Detects the decimal mark of a column from the last separator of each number and from separators that can only group
 * thousands.
 */
export function recogniseDecimalMark(amounts: readonly string[]): RecognisedDecimalMark {
  let commaVotes = 0;
  let pointVotes = 0;
  let undecided = 0;
  for (const amount of amounts) {
    const vote = voteOf(amount);
    if (vote === 'comma') commaVotes += 1;
    else if (vote === 'point') pointVotes += 1;
    else if (vote === 'undecided') undecided += 1;
  }
  return {
    mark: commaVotes > pointVotes ? 'comma' : 'point',
    ambiguous: commaVotes === pointVotes && commaVotes + undecided > 0,
  };
}

function voteOf(amount: string): DecimalMark | 'undecided' | 'no-separator' {
  // The point of an abbreviation, as in `Fr.3.50`, is not a separator.
  const separators = amount.replace(/[^\d.,]/gu, '').replace(/^\.+(?=\d*[.,])|[.,]+$/gu, '');
  const last = /[.,](\d*)$/.exec(separators);
  if (last === null) return 'no-separator';
  const lastMark = last[0].startsWith(',') ? 'comma' : 'point';
  const otherMark = lastMark === 'comma' ? 'point' : 'comma';
  const before = separators.slice(0, last.index);
  const hasOther = before.includes(lastMark === 'comma' ? '.' : ',');
  if (hasOther) return lastMark;
  const repeated = before.includes(lastMark === 'comma' ? ',' : '.');
  if (repeated) return otherMark;
  // Three digits after a single separator: thousands, or a currency with three decimals. "0,500" and "1234,500" cannot
  // be thousands.
  const mayBeThousands = (last[1] ?? '').length === 3 && /^[1-9]\d{0,2}$/.test(before);
  return mayBeThousands ? 'undecided' : lastMark;
}
