import { useState, type ReactNode } from 'react';

export interface CurrencyChoiceProps {
  readonly currencies: readonly string[];
  readonly currency: string | undefined;
  readonly onChoose: (currency: string) => void;
}

/**
 * The currency of a page, because amounts of two currencies are never added. Defaults to the first account's; undefined
 * without accounts.
 */
export function useCurrency(
  accounts: readonly { readonly currency: string }[],
): [string | undefined, CurrencyChoiceProps] {
  const currencies = [...new Set(accounts.map((account) => account.currency))];
  const [chosen, onChoose] = useState<string | null>(null);
  const currency = chosen !== null && currencies.includes(chosen) ? chosen : currencies[0];
  return [currency, { currencies, currency, onChoose }];
}

/** Renders nothing if there is no choice. */
export function CurrencyChoice({ currencies, currency, onChoose }: CurrencyChoiceProps): ReactNode {
  if (currencies.length < 2) return null;
  return (
    <label className="inline">
      Currency
      <select value={currency} onChange={(event) => onChoose(event.target.value)}>
        {currencies.map((code) => (
          <option key={code}>{code}</option>
        ))}
      </select>
    </label>
  );
}
