import { useClient } from '@rockpool/client/react';
import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { amountSentence } from '../money/amount-sentence.ts';
import { commonCurrencies, isCurrency, suggestedCurrency } from '../money/currency.ts';
import { decimalMarkOf } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { AccountKind } from '../schema.ts';
import { useSave } from '../shell/failure.tsx';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';
import { addAccount } from './actions.ts';
import { accountKinds, accountKindWords } from './kinds.ts';

export function AccountForm({ onDone }: { readonly onDone: (accountId: string | null) => void }): ReactNode {
  const client = useClient();
  const save = useSave();
  const id = useId();
  const [kind, setKind] = useState<AccountKind>('checking');
  const [name, setName] = useState('');
  const [currency, setCurrency] = useState(suggestedCurrency(locale));
  const [opening, setOpening] = useState('');
  const [problem, setProblem] = useState<string | null>(null);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const code = currency.trim().toUpperCase();
    if (name.trim() === '') return setProblem('Enter a name for the account.');
    if (!isCurrency(code)) return setProblem('Enter a currency code such as EUR.');
    const openingMinor =
      opening.trim() === ''
        ? ({ ok: true, value: 0 } as const)
        : parseTypedAmount(opening, code, decimalMarkOf(locale));
    if (!openingMinor.ok) return setProblem(amountSentence(openingMinor.problem));
    save(
      () => addAccount(client, { name: name.trim(), kind, currency: code, openingMinor: openingMinor.value }),
      '',
      onDone,
    );
  };

  return (
    <form
      className="card form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onDone(null);
      }}
      aria-labelledby={`${id}-title`}
    >
      <h2 id={`${id}-title`}>New account</h2>
      <div className="fields">
        <label className="wide">
          Name
          <input value={name} onChange={(event) => setName(event.target.value)} autoFocus autoComplete="off" />
        </label>
        <label>
          Kind
          <select value={kind} onChange={(event) => setKind(event.target.value as AccountKind)}>
            {accountKinds.map((option) => (
              <option key={option} value={option}>
                {accountKindWords[option]}
              </option>
            ))}
          </select>
        </label>
        <label>
          Currency
          <input
            value={currency}
            onChange={(event) => setCurrency(event.target.value)}
            list={`${id}-currencies`}
            maxLength={3}
            autoComplete="off"
          />
          <datalist id={`${id}-currencies`}>
            {commonCurrencies.map((code) => (
              <option key={code} value={code} />
            ))}
          </datalist>
        </label>
        <label>
          Opening balance
          <input
            value={opening}
            onChange={(event) => setOpening(event.target.value)}
            inputMode="decimal"
            placeholder="0"
            autoComplete="off"
          />
        </label>
      </div>
      <FormEnd problem={problem} submit="Add account" onCancel={() => onDone(null)} />
    </form>
  );
}
