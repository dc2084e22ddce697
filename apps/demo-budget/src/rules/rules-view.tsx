import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { decimalMarkOf, minorToDecimalText } from '../money/format.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { payeesInUse, type PayeeUseRow } from '../queries/payees.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { useAction } from '../shell/failure.tsx';
import { locale } from '../shell/locale.ts';
import { NameField } from '../shell/name-field.tsx';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { addRule, deleteRule, renamePayee } from './actions.ts';
import { RuleForm } from './rule-form.tsx';

/** Who the money goes to and comes from, and what is done with their entries by itself. */
export function RulesView(): ReactNode {
  const client = useClient();
  const run = useAction();
  const { rows: rules } = useQuery<RuleRow>(rulesInOrder);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const { rows: accounts } = useQuery<AccountRow>(accountsWithBalances);
  const mayWrite = useMayWrite();
  const [opened, setAdding] = useState(false);
  const adding = opened && mayWrite;
  const currency = accounts[0]?.currency ?? 'EUR';
  const nameOf = (categoryId: string | null): string => categories.find((category) => category.id === categoryId)?.name ?? 'a category';
  return (
    <>
      <header className="page-head">
        <h1>Payees and rules</h1>
        {mayWrite && !adding && (
          <button type="button" className="primary" onClick={() => setAdding(true)}>
            New rule
          </button>
        )}
      </header>
      {adding && (
        <RuleForm
          categories={categories}
          currency={currency}
          onSave={(rule) => {
            run(() => addRule(client, rule), 'Rule added.');
            setAdding(false);
          }}
          onCancel={() => setAdding(false)}
        />
      )}
      <section>
        <h2>Rules</h2>
        {rules.length === 0 && <p className="empty">None yet. A rule gives entries a category or a clean payee as they are imported or typed.</p>}
        {rules.length > 0 && (
          <ul className="rule-list card">
            {rules.map((rule) => (
              <li key={rule.id}>
                <span>{ruleSentence(rule, currency, nameOf)}</span>
                {mayWrite && (
                  <button type="button" className="quiet" onClick={() => run(() => deleteRule(client, rule.id), 'Rule deleted.')} aria-label={`Delete the rule: ${ruleSentence(rule, currency, nameOf)}`}>
                    Delete
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </section>
      <Payees nameOf={nameOf} />
    </>
  );
}

const testWords = { contains: 'contains', is: 'is', 'at-least': 'is at least', 'at-most': 'is at most' } as const;
const fieldWords = { payee: 'the payee', notes: 'the notes', amount: 'the amount' } as const;

function ruleSentence({ field, test, value, categoryId, payee }: RuleRow, currency: string, nameOf: (categoryId: string | null) => string): string {
  const mark = decimalMarkOf(locale) === 'comma' ? ',' : '.';
  const wanted = field === 'amount' ? minorToDecimalText(Number(value), currency).replace('.', mark) : `“${value}”`;
  const outcomes = [...(categoryId === null ? [] : [`the category is ${nameOf(categoryId)}`]), ...(payee === null ? [] : [`the payee becomes “${payee}”`])];
  return `If ${fieldWords[field]} ${testWords[test]} ${wanted}, ${outcomes.join(' and ')}.`;
}

function Payees({ nameOf }: { readonly nameOf: (categoryId: string | null) => string }): ReactNode {
  const client = useClient();
  const run = useAction();
  const [search, setSearch] = useState('');
  const { rows: payees, loading } = useSteadyQuery<PayeeUseRow>(payeesInUse, [search.trim()]);
  return (
    <section>
      <h2>Payees</h2>
      <p className="hint">A new entry begins with the category that its payee had last. Give two payees one name, and they are one.</p>
      <input type="search" className="search" aria-label="Search payees" placeholder="Search payees" value={search} onChange={(event) => setSearch(event.target.value)} />
      {!loading && payees.length === 0 && <p className="empty">{search === '' ? 'Nobody yet.' : 'Nothing found.'}</p>}
      {payees.length > 0 && (
        <ul className="payee-list card">
          {payees.map((row) => (
            <li key={row.payee}>
              <NameField
                name={row.payee}
                onRename={(name) =>
                  run(
                    () => renamePayee(client, row.payee, name),
                    (count) => `${count === 1 ? '1 entry' : `${count} entries`} renamed.`,
                  )
                }
              />
              <span className="hint">
                {row.entryCount === 1 ? '1 entry' : `${row.entryCount.toLocaleString(locale)} entries`}
                {row.categoryId !== null && ` · ${nameOf(row.categoryId)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
