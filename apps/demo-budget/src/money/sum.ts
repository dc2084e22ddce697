import { fail, succeed, type Result } from '../result.ts';
import { minorDigits } from './currency.ts';
import { maxAmountMinor, type AmountProblem } from './parse.ts';

/** An exact fraction, so that `100/3*3` is 100. */
interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

const unreadable = { code: 'amount-unreadable' } as const;

/** Whether a text has an operator between two numbers. */
export function isSum(text: string): boolean {
  return /\d[\s)]*[+*/×÷\-\u2212][\s(]*[\d.,]/u.test(text);
}

/**
 * Evaluates `+`, `-`, `*`, `/` and parentheses, with multiplication first, and rounds half away from zero.
 *
 * @param readNumber reads one number as minor units
 */
export function evaluateSum(
  text: string,
  currency: string,
  readNumber: (number: string) => Result<number, AmountProblem>,
): Result<number, AmountProblem> {
  const scale = 10n ** BigInt(minorDigits(currency));
  const tokens = text
    .replaceAll('×', '*')
    .replaceAll('÷', '/')
    .replaceAll('\u2212', '-')
    .match(/[+\-*/()]|[^+\-*/()]+/gu)
    ?.map((token) => token.trim())
    .filter((token) => token !== '');
  const left = [...(tokens ?? [])];
  let problem: AmountProblem | null = null;

  const number = (isFactor: boolean): Fraction => {
    const token = left.shift();
    if (token === '-') return negated(number(isFactor));
    if (token === '(') {
      const inner = sum();
      if (left.shift() !== ')') problem ??= unreadable;
      return inner;
    }
    const read = readNumber(token ?? '');
    if (!read.ok) {
      // A factor may have more decimals than the currency: `12*1.195`. Comes second, because `1,200` is a number with
      // grouped thousands where the comma is not the decimal mark.
      const decimals = /^\d+[.,](\d+)$/.exec(token ?? '')?.[1] ?? '';
      if ((isFactor || isMultiplied()) && decimals.length > minorDigits(currency))
        return { top: BigInt((token ?? '').replace(/[.,]/, '')), bottom: 10n ** BigInt(decimals.length) };
      problem ??= read.problem.code === 'amount-missing' ? unreadable : read.problem;
      return { top: 0n, bottom: 1n };
    }
    return { top: BigInt(read.value), bottom: scale };
  };
  const isMultiplied = (): boolean => left[0] === '*' || left[0] === '/';
  const product = (): Fraction => {
    let result = number(false);
    while (isMultiplied()) {
      const isDivision = left.shift() === '/';
      const factor = number(true);
      if (isDivision && factor.top === 0n) problem ??= unreadable;
      else
        result = isDivision
          ? { top: result.top * factor.bottom, bottom: result.bottom * factor.top }
          : { top: result.top * factor.top, bottom: result.bottom * factor.bottom };
    }
    return result;
  };
  const sum = (): Fraction => {
    let result = product();
    while (left[0] === '+' || left[0] === '-') {
      const isMinus = left.shift() === '-';
      const next = isMinus ? negated(product()) : product();
      result = { top: result.top * next.bottom + next.top * result.bottom, bottom: result.bottom * next.bottom };
    }
    return result;
  };

  const result = sum();
  if (problem !== null) return fail(problem);
  if (left.length > 0) return fail(unreadable);
  const minor = roundedQuotient(result.top * scale, result.bottom);
  if (minor > BigInt(maxAmountMinor) || minor < -BigInt(maxAmountMinor))
    return fail({ code: 'amount-too-large', maxMinor: maxAmountMinor });
  return succeed(Number(minor));
}

function negated({ top, bottom }: Fraction): Fraction {
  return { top: -top, bottom };
}

function roundedQuotient(top: bigint, bottom: bigint): bigint {
  const isNegative = top < 0n !== bottom < 0n;
  const [up, down] = [top < 0n ? -top : top, bottom < 0n ? -bottom : bottom];
  const rounded = (up * 2n + down) / (down * 2n);
  return isNegative ? -rounded : rounded;
}
