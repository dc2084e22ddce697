import type { AmountProblem } from './parse.ts';

/** A problem with an amount, said to the person who typed it or who imports it. */
export function amountSentence(problem: AmountProblem): string {
  switch (problem.code) {
    case 'amount-missing':
      return 'There is no amount.';
    case 'amount-unreadable':
      return 'This is not an amount that can be read.';
    case 'amount-too-precise':
      return problem.minorDigits === 0
        ? 'This currency has no decimals, but the amount has some.'
        : `This currency has ${problem.minorDigits} decimals, but the amount has more.`;
    case 'amount-too-large':
      return 'This amount is too large to be kept exactly, so it was not taken.';
  }
}
