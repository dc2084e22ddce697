/**
 * An amount is an integer of minor units (cents for EUR, whole yen for JPY, fils for KWD), so the app needs only the
 * number of decimals of a currency, as in ISO 4217. `Intl` knows them too, but browsers disagree about 17 currencies,
 * such as HUF: one browser would show amounts entered in another 100 times too large.
 */

/** The currencies whose number of decimals is not 2. */
const unusualMinorDigits: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const minorDigitsByCurrency: ReadonlyMap<string, number> = new Map(
  Object.entries(unusualMinorDigits).flatMap(([digits, codes]) =>
    codes.split(' ').map((code) => [code, Number(digits)] as const),
  ),
);

/** Number of decimals of the currency: 2 for EUR, 0 for JPY, 3 for KWD. Unknown codes have 2. */
export function minorDigits(currency: string): number {
  return minorDigitsByCurrency.get(currency.toUpperCase()) ?? 2;
}

/**
 * Whether `Intl` formats amounts in this currency. It throws for any other text, which the forms refuse, but which
 * other devices may store.
 */
export function isWellFormedCurrency(code: string): boolean {
  return /^[A-Za-z]{3}$/.test(code);
}

/** Whether this browser's `Intl` knows a code such as `EUR`. */
export function isCurrency(code: string): boolean {
  return /^[A-Z]{3}$/.test(code) && Intl.supportedValuesOf('currency').includes(code);
}

/** Listed first in the account form. Any other code that `Intl` knows can be typed. */
export const commonCurrencies: readonly string[] = [
  'EUR',
  'USD',
  'GBP',
  'CHF',
  'SEK',
  'NOK',
  'DKK',
  'PLN',
  'CZK',
  'CAD',
  'AUD',
  'JPY',
  'INR',
  'BRL',
  'KWD',
];

/** The most likely currency for the browser's language. Only a suggestion. */
export function suggestedCurrency(locale: string): string {
  const region = new Intl.Locale(locale).maximize().region;
  switch (region) {
    case 'US':
      return 'USD';
    case 'GB':
      return 'GBP';
    case 'CH':
      return 'CHF';
    case 'SE':
      return 'SEK';
    case 'NO':
      return 'NOK';
    case 'DK':
      return 'DKK';
    case 'PL':
      return 'PLN';
    case 'CZ':
      return 'CZK';
    case 'CA':
      return 'CAD';
    case 'AU':
      return 'AUD';
    case 'JP':
      return 'JPY';
    case 'IN':
      return 'INR';
    case 'BR':
      return 'BRL';
    case 'KW':
      return 'KWD';
    default:
      return 'EUR';
  }
}
