import { describe, expect, it } from 'vitest';
import { isCurrency, minorDigits } from './currency.ts';
import { decimalMarkOf, formatMinor, formatMinorForEditing, formatMinorRounded, minorToDecimalText } from './format.ts';
import { parseAmount, type DecimalMark } from './parse.ts';
import { parseTypedAmount } from './typed-amount.ts';
import { amountSentence } from './amount-sentence.ts';

function amount(text: string, currency: string, mark: DecimalMark): unknown {
  const result = parseAmount(text, currency, mark);
  return result.ok ? result.value : result.problem.code;
}

describe('currencies', () => {
  it('have the right number of decimals', () => {
    expect([minorDigits('EUR'), minorDigits('JPY'), minorDigits('KWD')]).toEqual([2, 0, 3]);
  });

  it('have the decimals of ISO 4217, whatever the browser knows about them', () => {
    expect(['HUF', 'IDR', 'COP', 'PKR', 'IQD', 'CLF', 'jpy'].map(minorDigits)).toEqual([2, 2, 2, 2, 3, 4, 0]);
    expect(amount('1234,5', 'HUF', 'comma')).toBe(123_450);
    expect(formatMinor(123_450, 'HUF', 'en')).toBe('HUF\u00a01,234.50');
    expect(formatMinor(1_234_500, 'IQD', 'en')).toBe('IQD\u00a01,234.500');
  });

  it('are the codes that Intl lists', () => {
    expect(isCurrency('EUR')).toBe(true);
    expect(isCurrency('EURO')).toBe(false);
    expect(isCurrency('eur')).toBe(false);
  });
});

describe('parsing an amount', () => {
  it.each([
    ['1.234,56', 'comma', 123456],
    ['1,234.56', 'point', 123456],
    ['1 234,56', 'comma', 123456],
    ['1\u202f234,56', 'comma', 123456],
    ["1'234.56", 'point', 123456],
    ['12,34,567.89', 'point', 123456789],
    ['(12.00)', 'point', -1200],
    ['12.00-', 'point', -1200],
    ['-12,5', 'comma', -1250],
    ['\u221212,50', 'comma', -1250],
    ['+3', 'point', 300],
    ['€ 12.00', 'point', 1200],
    ['-€12.00', 'point', -1200],
    ['€ -12.00', 'point', -1200],
    ['12,00 €', 'comma', 1200],
    ['12,00- EUR', 'comma', -1200],
    ['US$12', 'point', 1200],
    ['kr 12,50', 'comma', 1250],
    ['12.00 DR', 'point', -1200],
    ['-12.00 DR', 'point', -1200],
    ['(12.00 DR)', 'point', -1200],
    ['12.00CR', 'point', 1200],
    ['.5', 'point', 50],
    ['0', 'point', 0],
    ['-0,00', 'comma', 0],
  ] as const)('reads %s with a decimal %s', (text, mark, minor) => {
    expect(amount(text, 'EUR', mark)).toBe(minor);
  });

  it('reads digits and marks of other scripts', () => {
    const read = (text: string, mark: DecimalMark): unknown => parseTypedAmount(text, 'EUR', mark);
    expect(read('\u0661\u066c\u0662\u0663\u0664\u066b\u0665', 'point')).toEqual({ ok: true, value: 123_450 });
    expect(read('\u06f1\u06f2\u066b\u06f5\u06f0 + \u06f1', 'comma')).toEqual({ ok: true, value: 1_350 });
    expect([read('\uff11\uff12', 'point'), read('\u096a', 'point')]).toEqual([
      { ok: true, value: 1_200 },
      { ok: true, value: 400 },
    ]);
  });

  it('reads a zero before three digits as whole units, not as thousands', () => {
    expect(amount('0,500', 'KWD', 'point')).toBe('amount-unreadable');
    expect(parseTypedAmount('0.500', 'KWD', 'comma')).toEqual({ ok: true, value: 500 });
    expect(parseTypedAmount('0,500', 'EUR', 'point')).toEqual({ ok: true, value: 50 });
  });

  it.each(['coffee', '1.2.3', '1,2,3', '12,3456.00', '--5', '(-5)', '-', '€', '12 34', '1,234,56', '0x10', '1e5'])(
    'rejects %s',
    (text) => {
      expect(amount(text, 'EUR', 'point')).toBe('amount-unreadable');
    },
  );

  it('reports an empty field as a missing amount', () => {
    expect(amount('  ', 'EUR', 'point')).toBe('amount-missing');
  });

  it('counts whole units for a currency without decimals, and thousandths for one with three', () => {
    expect(amount('1,200', 'JPY', 'point')).toBe(1200);
    expect(amount('1200.00', 'JPY', 'point')).toBe(1200);
    expect(amount('1.5', 'JPY', 'point')).toBe('amount-too-precise');
    expect(amount('1.255', 'KWD', 'point')).toBe(1255);
    expect(amount('1.255', 'EUR', 'point')).toBe('amount-too-precise');
  });

  it('rejects an amount over 2^53 minor units and keeps the largest below it exactly', () => {
    expect(amount('90071992547409.91', 'EUR', 'point')).toBe(Number.MAX_SAFE_INTEGER);
    expect(amount('90071992547409.92', 'EUR', 'point')).toBe('amount-too-large');
    expect(amount('-90.071.992.547.409,92', 'EUR', 'comma')).toBe('amount-too-large');
    expect(amount('9'.repeat(400), 'EUR', 'point')).toBe('amount-too-large');
  });

  it('has a sentence for each problem, which does not repeat the amount', () => {
    expect(amountSentence({ code: 'amount-too-large', maxMinor: 1 })).toContain('too large');
    expect(amountSentence({ code: 'amount-too-precise', minorDigits: 0 })).toContain('no decimals');
  });
});

describe('parsing a typed amount', () => {
  it('accepts the other decimal mark if the locale’s own does not fit', () => {
    expect(parseTypedAmount('12.50', 'EUR', 'comma')).toEqual({ ok: true, value: 1250 });
    expect(parseTypedAmount('12,50', 'EUR', 'point')).toEqual({ ok: true, value: 1250 });
    expect(parseTypedAmount('1.234', 'EUR', 'comma')).toEqual({ ok: true, value: 123400 });
    expect(parseTypedAmount('lunch', 'EUR', 'comma')).toEqual({ ok: false, problem: { code: 'amount-unreadable' } });
  });
});

describe('formatting an amount', () => {
  it('is exact for sums larger than any exact JavaScript number', () => {
    expect(minorToDecimalText(-(2n ** 62n), 'EUR')).toBe('-46116860184273879.04');
    expect(formatMinor(2n ** 62n, 'EUR', 'en')).toBe('€46,116,860,184,273,879.04');
  });

  it('follows the currency and the locale', () => {
    expect(formatMinor(-5, 'EUR', 'en')).toBe('-€0.05');
    expect(formatMinor(1500, 'JPY', 'en')).toBe('¥1,500');
    expect(formatMinorRounded(123456, 'EUR', 'en')).toBe('1,235');
    expect([-40, -60].map((minor) => formatMinorRounded(minor, 'EUR', 'en'))).toEqual(['0', '-1']);
    expect(formatMinorForEditing(-123456, 'EUR', 'comma')).toBe('-1234,56');
    expect(['de', 'en', 'de-CH', 'fr-CH'].map(decimalMarkOf)).toEqual(['comma', 'point', 'point', 'point']);
    expect(parseTypedAmount(formatMinor(-123456, 'KWD', 'fr-CH'), 'KWD', decimalMarkOf('fr-CH'))).toMatchObject({
      value: -123456,
    });
    expect(parseTypedAmount(formatMinor(-123456, 'USD', 'fr-CA'), 'USD', 'comma')).toMatchObject({ value: -123456 });
  });
});

it.each(['', '?', 'euro', 'E1R', 'ÄÖÜ'])('an amount is shown even if its account has the currency %j', (currency) => {
  expect(formatMinor(-123456, currency, 'en')).toBe(`-1,234.56 ${currency}`.trim());
  expect(formatMinorRounded(123456, currency, 'en')).toBe('1,235');
  expect(parseAmount('12.5', currency, 'point')).toEqual({ ok: true, value: 1250 });
});

describe('a sum in an amount field', () => {
  it.each([
    ['12+3.50', 1_550],
    ['12 + 3,50 - 1', 1_450],
    ['3*4.20', 1_260],
    ['100/3', 3_333],
    ['100/3*3', 10_000],
    ['(90+10)/4', 2_500],
    ['-5+2', -300],
    ['12*1.195', 1_434],
    ['1.234,50+0,50', 123_500],
    ['0.05/2', 3],
    ['-0.05/2', -3],
    ['10/(1-3)', -500],
  ])('is evaluated: %s', (text, minor) => {
    expect(parseTypedAmount(text, 'EUR', text.includes(',5') ? 'comma' : 'point')).toEqual({ ok: true, value: minor });
  });

  it.each([
    ['1,200+50', 'EUR', 'point', 125_000],
    ['1.200+50', 'EUR', 'comma', 125_000],
    ['1,200*3', 'JPY', 'point', 3_600],
    ['1.200*3', 'JPY', 'comma', 3_600],
    ['12*1,195', 'EUR', 'point', 1_434_000],
    ['12*1.195', 'EUR', 'comma', 1_434_000],
  ] as const)('groups thousands like an amount typed alone: %s (%s, decimal %s)', (text, currency, mark, minor) => {
    expect(parseTypedAmount(text, currency, mark)).toEqual({ ok: true, value: minor });
  });

  it.each([
    ['12*1,195', 'EUR', 'comma', 1_434],
    ['12*1,1955', 'EUR', 'point', 1_435],
    ['500*1.08', 'JPY', 'point', 540],
    ['2*1.2345', 'KWD', 'point', 2_469],
  ] as const)(
    'may have factors with more decimals than the currency: %s (%s, decimal %s)',
    (text, currency, mark, minor) => {
      expect(parseTypedAmount(text, currency, mark)).toEqual({ ok: true, value: minor });
    },
  );

  it.each([
    ['1,20+300', 'JPY'],
    ['12.50+3.25', 'JPY'],
    ['1.1955+2*3', 'EUR'],
  ])('rejects a summand with more decimals than the currency: %s %s', (text, currency) => {
    expect(parseTypedAmount(text, currency, 'point').ok).toBe(false);
  });

  it.each(['1/0', '(1+2', '1++', '1+2)'])('is rejected: %s', (text) => {
    expect(parseTypedAmount(text, 'EUR', 'point').ok).toBe(false);
  });

  it('is rejected, not rounded, if it is too large', () => {
    expect(parseTypedAmount('90000000000000*2', 'EUR', 'point')).toMatchObject({
      ok: false,
      problem: { code: 'amount-too-large' },
    });
  });
});
