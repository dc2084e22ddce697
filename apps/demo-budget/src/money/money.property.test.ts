import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalMarkOf, formatMinor, formatMinorForEditing } from './format.ts';
import { parseAmount } from './parse.ts';
import { parseTypedAmount } from './typed-amount.ts';

const currency = fc.constantFrom('EUR', 'USD', 'GBP', 'CHF', 'SEK', 'JPY', 'KWD', 'INR');
const locale = fc.constantFrom(
  ...['en', 'en-IN', 'de', 'de-CH', 'fr', 'fr-CA', 'fr-CH', 'es', 'he', 'nl', 'sv', 'pl', 'pt-BR', 'ja', 'ar-EG'],
);
const amountMinor = fc.maxSafeInteger().map((minor) => minor + 0 || 0);

describe('money', () => {
  it('round-trips every displayed amount, in each currency and locale', () => {
    fc.assert(
      fc.property(amountMinor, currency, locale, (minor, code, language) => {
        const shown = formatMinor(minor, code, language);
        expect(parseAmount(shown, code, decimalMarkOf(language))).toEqual({ ok: true, value: minor });
      }),
    );
  });

  it('round-trips every amount in a field', () => {
    fc.assert(
      fc.property(amountMinor, currency, fc.constantFrom('comma', 'point'), (minor, code, mark) => {
        expect(parseTypedAmount(formatMinorForEditing(minor, code, mark), code, mark)).toEqual({
          ok: true,
          value: minor,
        });
      }),
    );
  });

  it('never throws and never returns an inexact amount, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), currency, fc.constantFrom('comma', 'point'), (text, code, mark) => {
        const result = parseAmount(text, code, mark);
        if (result.ok) expect(Number.isSafeInteger(result.value)).toBe(true);
      }),
    );
  });
});
