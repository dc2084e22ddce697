import type { AmountProblem } from './parse.ts';

/** The message for an unreadable amount, typed or imported. */
export function amountSentence(problem: AmountProblem): string {
  switch (problem.code) {
    case 'amount-missing':
      return 'Enter an amount.';
    case 'amount-unreadable':
      return 'Enter a valid amount.';
    case 'amount-too-precise':
      return problem.minorDigits === 0
        ? 'This currency has no decimals.'
        : `This currency has ${problem.minorDigits} decimals at most.`;
    case 'amount-too-large':
      return 'This amount is too large.';
  }
}
