import type { Result } from '../result.ts';
import { parseAmount, withLatinDigits, type AmountProblem, type DecimalMark } from './parse.ts';
import { evaluateSum, isSum } from './sum.ts';

/**
 * Reads an amount typed into a field, or a sum such as `12+3.50`, `3*4.20` or `(90+10)/4`, rounded to minor units.
 * Users paste and type with either mark, so if the locale's own mark does not fit, the other one is tried: `12.50`
 * typed in a German locale is 12.50, because 50 is not a group of thousands. `1.234` stays 1234 there.
 */
export function parseTypedAmount(text: string, currency: string, mark: DecimalMark): Result<number, AmountProblem> {
  const latin = withLatinDigits(text, mark);
  if (isSum(latin)) return evaluateSum(latin, currency, (number) => parseNumber(number, currency, mark));
  return parseNumber(latin, currency, mark);
}

/** Whether a text is read as a sum. */
export function isTypedSum(text: string): boolean {
  return isSum(withLatinDigits(text, 'point'));
}

function parseNumber(text: string, currency: string, mark: DecimalMark): Result<number, AmountProblem> {
  const byLocale = parseAmount(text, currency, mark);
  if (byLocale.ok || byLocale.problem.code !== 'amount-unreadable') return byLocale;
  const byOther = parseAmount(text, currency, mark === 'comma' ? 'point' : 'comma');
  return byOther.ok ? byOther : byLocale;
}
