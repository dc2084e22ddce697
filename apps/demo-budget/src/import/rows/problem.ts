import { amountSentence } from '../../money/amount-sentence.ts';
import type { AmountProblem } from '../../money/parse.ts';
import type { DateProblem } from './dates.ts';

/** Why one row cannot be imported. Contains none of the row's contents except the code of its currency. */
export type RowProblem =
  | DateProblem
  | AmountProblem
  | { readonly code: 'amount-on-both-sides' }
  /** Codes of three letters, such as EUR. */
  | { readonly code: 'currency-differs'; readonly found: string; readonly expected: string };

export function rowProblemSentence(problem: RowProblem): string {
  switch (problem.code) {
    case 'date-missing':
      return 'The date is missing.';
    case 'date-unreadable':
      return 'The date does not match the chosen date order.';
    case 'date-impossible':
      return 'This date does not exist in the chosen date order.';
    case 'amount-on-both-sides':
      return 'Both money out and money in are filled in.';
    case 'currency-differs':
      return `This row is in ${problem.found}, and the account is in ${problem.expected}.`;
    default:
      return amountSentence(problem);
  }
}
