import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import { clearedOfAccount, type AccountRow, type ClearedRow } from '../queries/accounts.ts';
import { Amount } from '../shell/amount.tsx';
import { useAction, useSave } from '../shell/failure.tsx';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale, today } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
import { differenceOf, enterDifference, finishReconciling, mayEnter } from './actions.ts';

/** Reconciles an account with a statement: the bank's balance, the cleared balance and the difference. */
export function ReconcileBar({
  account,
  onDone,
}: {
  readonly account: AccountRow;
  readonly onDone: () => void;
}): ReactNode {
  const client = useClient();
  const run = useAction();
  const save = useSave();
  const { rows } = useQuery<ClearedRow>(clearedOfAccount, [account.id, account.id, account.id]);
  const [typed, setTyped] = useState('');
  const [statementMinor, setStatementMinor] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const state = rows[0];
  if (state === undefined) return null;
  const clearedMinor = BigInt(state.clearedMinor);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parsed = parseTypedAmount(typed, account.currency, decimalMarkOf(locale));
    setProblem(parsed.ok ? null : amountSentence(parsed.problem));
    if (parsed.ok) setStatementMinor(parsed.value);
  };
  const finish = (): void => {
    save(
      () => finishReconciling(client, account.id),
      (count) =>
        count === 0
          ? 'Reconciled. No new entries to lock.'
          : `Reconciled: ${count === 1 ? '1 entry is' : `${count.toLocaleString(locale)} entries are`} locked.`,
      onDone,
    );
  };

  if (statementMinor === null) {
    return (
      <form
        className="card form reconcile"
        onSubmit={submit}
        onKeyDown={(event) => {
          if (keyOf(event) === 'Escape') onDone();
        }}
        aria-label="Reconcile"
      >
        <label>
          What is the balance on your statement?
          <input
            className="amount-input"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            inputMode="decimal"
            autoComplete="off"
            autoFocus
          />
        </label>
        <FormEnd problem={problem} submit="Compare" onCancel={onDone} />
      </form>
    );
  }
  const differenceMinor = differenceOf({ statementMinor, clearedMinor });
  return (
    <section className="card reconcile" aria-label="Reconcile">
      <dl className="reconcile-sums">
        <Sum word="Statement" minor={statementMinor} currency={account.currency} />
        <Sum word="Cleared here" minor={clearedMinor} currency={account.currency} />
        <Sum word="Difference" minor={differenceMinor} currency={account.currency} />
      </dl>
      <p className="hint" role="status">
        {differenceMinor === 0n
          ? 'The balances match. Finish to lock the cleared entries.'
          : mayEnter(differenceMinor)
            ? 'Mark the entries on the statement as cleared, and add any that are missing. You can add the remaining difference as an adjustment.'
            : 'The difference is too large for one entry. Change the amount, or mark the entries on the statement as cleared.'}
      </p>
      <div className="buttons">
        {differenceMinor === 0n ? (
          <button type="button" className="primary" onClick={finish}>
            Finish
          </button>
        ) : (
          mayEnter(differenceMinor) && (
            <button
              type="button"
              onClick={() =>
                run(
                  () => enterDifference(client, { accountId: account.id, date: today(), statementMinor, clearedMinor }),
                  'Adjustment added.',
                )
              }
            >
              Add adjustment
            </button>
          )
        )}
        <button type="button" onClick={() => setStatementMinor(null)}>
          Change amount
        </button>
        <button type="button" className="quiet" onClick={onDone}>
          Stop
        </button>
      </div>
    </section>
  );
}

function Sum({
  word,
  minor,
  currency,
}: {
  readonly word: string;
  readonly minor: number | bigint;
  readonly currency: string;
}): ReactNode {
  return (
    <div>
      <dt>{word}</dt>
      <dd>
        <Amount minor={minor} currency={currency} />
      </dd>
    </div>
  );
}
