import { isWellFormedCurrency, minorDigits } from './currency.ts';
import type { DecimalMark } from './parse.ts';

/**
 * Minor units as the exact decimal text `-1234.50`, with a point and no grouping. Accepts `bigint` too, because
 * SQLite's sums are 64-bit and may exceed 2^53 even though no single amount does.
 */
export function minorToDecimalText(amountMinor: number | bigint, currency: string): string {
  const digits = minorDigits(currency);
  const negative = amountMinor < 0;
  const absolute = (negative ? -BigInt(amountMinor) : BigInt(amountMinor)).toString().padStart(digits + 1, '0');
  const whole = digits === 0 ? absolute : absolute.slice(0, -digits);
  const fraction = digits === 0 ? '' : `.${absolute.slice(-digits)}`;
  return `${negative ? '-' : ''}${whole}${fraction}`;
}

type Style = 'exact' | 'whole-units';

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, currency: string, style: Style): Intl.NumberFormat {
  const key = `${locale} ${currency} ${style}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const digits = style === 'exact' ? minorDigits(currency) : 0;
  const made = new Intl.NumberFormat(locale, {
    ...(style === 'exact' && isWellFormedCurrency(currency) ? { style: 'currency', currency } : {}),
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    // No minus before an amount that is rounded to 0.
    signDisplay: 'negative',
    // Latin digits everywhere: the tables align digits by their width, and fields edit amounts in Latin digits.
    numberingSystem: 'latn',
  });
  formats.set(key, made);
  return made;
}

/**
 * An amount for display, such as `-€1,234.50`, or `-1,234.50 euro` if a device has stored `euro` as the currency. Exact
 * for any size: `Intl` is given decimal text, never a float.
 */
export function formatMinor(amountMinor: number | bigint, currency: string, locale: string): string {
  const amount = formatOf(locale, currency, 'exact').format(
    minorToDecimalText(amountMinor, currency) as Intl.StringNumericLiteral,
  );
  return isWellFormedCurrency(currency) ? amount : `${amount} ${currency}`.trim();
}

/** An amount rounded to whole units, without currency symbol: for tables and charts that name the currency once. */
export function formatMinorRounded(amountMinor: number | bigint, currency: string, locale: string): string {
  return formatOf(locale, currency, 'whole-units').format(
    minorToDecimalText(amountMinor, currency) as Intl.StringNumericLiteral,
  );
}

/** An amount for a text field: no currency, no grouping, the locale's decimal mark. */
export function formatMinorForEditing(amountMinor: number | bigint, currency: string, mark: DecimalMark): string {
  const text = minorToDecimalText(amountMinor, currency);
  return mark === 'comma' ? text.replace('.', ',') : text;
}

/** The locale's decimal mark of money. In `fr-CH`, other numbers have a different one. */
export function decimalMarkOf(locale: string): DecimalMark {
  const money = { style: 'currency', currency: 'EUR', numberingSystem: 'latn' } as const;
  const parts = new Intl.NumberFormat(locale, money).formatToParts(1.5);
  return parts.find((part) => part.type === 'decimal')?.value === ',' ? 'comma' : 'point';
}
