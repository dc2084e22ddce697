import { fail, succeed, type Result } from '../result.ts';
import { minorDigits } from './currency.ts';

/** The character between whole and minor units. The other one, a space or an apostrophe may then group thousands. */
export type DecimalMark = 'comma' | 'point';

/** Why a text is not an amount. It never contains the text: problems may be logged, and amounts are private. */
export type AmountProblem =
  | { readonly code: 'amount-missing' }
  | { readonly code: 'amount-unreadable' }
  | { readonly code: 'amount-too-precise'; readonly minorDigits: number }
  | { readonly code: 'amount-too-large'; readonly maxMinor: number };

/** Beyond 2^53 − 1 minor units a JavaScript number is inexact, so such an amount is rejected, never rounded. */
export const maxAmountMinor: number = Number.MAX_SAFE_INTEGER;

const spaces = /[\s\u00a0\u2007\u2009\u202f]+/gu;
const bidiMarks = /[\u200e\u200f\u061c]/gu;
// A currency symbol (also "US$", "$US" and "$ US"), initials with points ("د.ك."), a code, or a word such as "kr".
// `takeSigns` removes "CR" and "DR" before it uses these patterns.
const currencyMark = /^(?:\p{L}{0,3}\p{Sc}\p{L}{0,3}|(?:\p{L}{1,2}\.){2,3}|\p{L}{1,4}\.?)/u;
const currencyMarkAtEnd = /(?:\p{L}{0,3}\p{Sc} ?\p{L}{0,3}|(?:\p{L}{1,2}\.){2,3}|\p{L}{1,4}\.?)$/u;

/** The zeros of Arabic, Persian, Devanagari, Bengali and full-width digits. */
const zeros = [0x0660, 0x06f0, 0x0966, 0x09e6, 0xff10];

/** The text with Latin digits and marks, which keyboards of other scripts may not have. */
export function withLatinDigits(text: string, mark: DecimalMark): string {
  return text
    .replace(/\p{Nd}/gu, (digit) => {
      const code = digit.codePointAt(0) ?? 0;
      const zero = zeros.find((first) => code >= first && code < first + 10);
      return zero === undefined ? digit : String(code - zero);
    })
    .replaceAll('\u066b', mark === 'comma' ? ',' : '.')
    .replaceAll('\u066c', "'");
}

/**
 * Reads an amount as people and banks write it: `1.234,56`, `1,234.56`, `1 234,56`, `1'234.56`, `(12.00)`, `12.00-`,
 * `−12`, `€ 12`, `12 kr`, `12.00 DR`. The decimal mark is a parameter and not guessed, because `1.234` alone is
 * ambiguous.
 */
export function parseAmount(text: string, currency: string, mark: DecimalMark): Result<number, AmountProblem> {
  const { digitsText, negative } = takeSigns(withLatinDigits(text, mark));
  if (digitsText === '') return fail({ code: text.trim() === '' ? 'amount-missing' : 'amount-unreadable' });
  const decimal = mark === 'comma' ? ',' : '.';
  const parts = digitsText.split(decimal);
  const whole = parts[0] ?? '';
  const fraction = parts[1] ?? '';
  if (parts.length > 2 || !/^\d*$/.test(fraction)) return fail({ code: 'amount-unreadable' });
  const wholeDigits = withoutGroups(whole, mark);
  if (wholeDigits === undefined || wholeDigits + fraction === '') return fail({ code: 'amount-unreadable' });
  const digits = minorDigits(currency);
  // Zeros beyond the currency's precision do not matter: "12.00" yen are 12 yen.
  if (/[1-9]/.test(fraction.slice(digits))) return fail({ code: 'amount-too-precise', minorDigits: digits });
  const minor = BigInt(wholeDigits + fraction.slice(0, digits).padEnd(digits, '0') || '0');
  if (minor > BigInt(maxAmountMinor)) return fail({ code: 'amount-too-large', maxMinor: maxAmountMinor });
  const amountMinor = Number(minor);
  return succeed(negative && amountMinor !== 0 ? -amountMinor : amountMinor);
}

/** Whether an amount is written as negative, in any of the ways that `parseAmount` reads. */
export function isNegative(text: string): boolean {
  return takeSigns(text).negative;
}

/** Strips everything around the digits: parentheses, CR and DR, signs before or after, the currency on either side. */
function takeSigns(text: string): { digitsText: string; negative: boolean } {
  let rest = text
    .replace(bidiMarks, '')
    .replace(/[\u2212\u2012\u2013\uff0d]/gu, '-')
    .replace(spaces, ' ')
    .trim();
  let negative = false;
  const inParentheses = /^\((.*)\)$/u.exec(rest);
  if (inParentheses !== null) {
    rest = inParentheses[1]?.trim() ?? '';
    negative = true;
  }
  const creditOrDebit = /\s?(CR|DR)$/iu.exec(rest);
  // Banks that sign their amounts may also name the direction.
  const isDebit = creditOrDebit?.[1]?.toUpperCase() === 'DR';
  if (creditOrDebit !== null) rest = rest.slice(0, creditOrDebit.index).trim();
  let signs = 0;
  const takeSign = (): void => {
    const sign = /^[+-]/u.exec(rest) ?? /[+-]$/u.exec(rest);
    if (sign === null) return;
    signs += 1;
    if (sign[0] === '-') negative = !negative;
    rest = (sign.index === 0 ? rest.slice(1) : rest.slice(0, -1)).trim();
  };
  takeSign();
  rest = rest.replace(currencyMark, '').trim();
  rest = rest.replace(currencyMarkAtEnd, '').trim();
  // The sign may be on the other side of the currency: "€ -12" or "12- EUR".
  takeSign();
  const twoSigns = signs > 1 || (signs === 1 && inParentheses !== null);
  return { digitsText: twoSigns ? '' : rest, negative: negative || isDebit };
}

/** The digits of the whole units, or undefined if the grouping is invalid: `1,2,3` is not a number. */
function withoutGroups(whole: string, mark: DecimalMark): string | undefined {
  if (/^\d*$/.test(whole)) return whole;
  const separator = /[^\d]/u.exec(whole)?.[0];
  const allowed = mark === 'comma' ? [' ', '.', "'", '\u2019'] : [' ', ',', "'", '\u2019'];
  if (separator === undefined || !allowed.includes(separator)) return undefined;
  const groups = whole.split(separator);
  const first = groups[0] ?? '';
  const last = groups.at(-1) ?? '';
  // Groups of two between the first and the last are Indian grouping: 12,34,567.
  const middle = groups.slice(1, -1);
  const wellFormed =
    /^[1-9]\d{0,2}$/.test(first) && /^\d{3}$/.test(last) && middle.every((group) => /^\d{2,3}$/.test(group));
  return wellFormed ? groups.join('') : undefined;
}
