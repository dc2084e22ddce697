import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { payeeSearch, payeesInUse, type PayeeUseRow } from '../queries/payees.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { closeForm } from '../shell/close-form.ts';
import { useAction, useSave } from '../shell/failure.tsx';
import { locale } from '../shell/locale.ts';
import { NameField } from '../shell/name-field.tsx';
import { editButtonId, isListed, withOpenedRows, type OpenedRow } from '../shell/opened-row.ts';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { addRule, changeRule, deleteRule, renamePayee } from './actions.ts';
import { RuleForm, type RuleFormProps } from './rule-form.tsx';
import { readRule } from './rule.ts';
import { ruleSentence, type RuleNames } from './rule-words.ts';

/** The payees, and the rules that apply to their entries automatically. */
export function RulesView(): ReactNode {
  const client = useClient();
  const save = useSave();
  const { rows: rules } = useQuery<RuleRow>(rulesInOrder);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const { rows: accounts } = useQuery<AccountRow>(accountsWithBalances);
  const mayWrite = useMayWrite();
  const [isAdding, setAdding] = useState(false);
  const adding = isAdding && mayWrite;
  // Several may be open: opening one must not discard what was typed into another.
  const [opened, setOpened] = useState<readonly OpenedRow<RuleRow>[]>([]);
  const edited = mayWrite ? opened : [];
  const listed = withOpenedRows(rules, edited);
  const currency = accounts[0]?.currency ?? 'EUR';
  const nameOf = (
    named: readonly { readonly id: string; readonly name: string }[],
    id: string | null,
    otherwise: string,
  ): string => named.find((one) => one.id === id)?.name ?? otherwise;
  const names: RuleNames = {
    currency,
    category: (id) => nameOf(categories, id, 'a category'),
    account: (id) => nameOf(accounts, id, 'an account'),
  };
  const fields = { categories, accounts, currency };
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
          {...fields}
          onSave={(rule, entryIds) =>
            save(
              () => addRule(client, rule, entryIds),
              'Rule added.',
              () => setAdding(false),
            )
          }
          onCancel={() => setAdding(false)}
        />
      )}
      <section>
        <h2>Rules</h2>
        {listed.length === 0 && (
          <p className="empty">
            No rules yet. A rule sets the category, payee or memo of entries as you import or add them.
          </p>
        )}
        {listed.length > 0 && (
          <ul className="rule-list card">
            {listed.map((row, index) => {
              const own = edited.find((one) => one.row.id === row.id);
              return own !== undefined ? (
                <li key={row.id} className="rule-edited">
                  <EditedRule
                    {...fields}
                    row={own.row}
                    isListed={isListed(rules, own)}
                    onLeave={() =>
                      closeForm(() => setOpened((last) => last.filter((other) => other !== own)), editButtonId(row.id))
                    }
                  />
                </li>
              ) : (
                <RuleLine
                  key={row.id}
                  row={row}
                  names={names}
                  onEdit={() => setOpened((last) => [...last, { row, index }])}
                />
              );
            })}
          </ul>
        )}
      </section>
      <Payees nameOf={(categoryId) => nameOf(categories, categoryId, 'a category')} />
    </>
  );
}

interface EditedRuleProps extends Pick<RuleFormProps, 'isListed' | 'categories' | 'accounts' | 'currency'> {
  readonly row: RuleRow;
  readonly onLeave: () => void;
}

function EditedRule({ row, onLeave, ...form }: EditedRuleProps): ReactNode {
  const client = useClient();
  const save = useSave();
  return (
    <RuleForm
      {...form}
      {...ruleProps(row)}
      onSave={(rule, entryIds) => save(() => changeRule(client, row, rule, entryIds), 'Rule changed.', onLeave)}
      onCancel={onLeave}
    />
  );
}

function ruleProps(row: RuleRow): { readonly rule?: Exclude<ReturnType<typeof readRule>, undefined> } {
  const rule = readRule(row);
  return rule === undefined ? {} : { rule };
}

function RuleLine({
  row,
  names,
  onEdit,
}: {
  readonly row: RuleRow;
  readonly names: RuleNames;
  readonly onEdit: () => void;
}): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const rule = readRule(row);
  const words =
    rule === undefined
      ? 'Made by a newer version of this app. It is kept but not applied on this device.'
      : ruleSentence(rule, names);
  return (
    <li>
      <span>{words}</span>
      {mayWrite && (
        <span className="buttons">
          {rule !== undefined && (
            <button
              type="button"
              id={editButtonId(row.id)}
              className="quiet"
              onClick={onEdit}
              aria-label={`Edit the rule: ${words}`}
            >
              Edit
            </button>
          )}
          <button
            type="button"
            className="quiet"
            onClick={() => run(() => deleteRule(client, row.id), 'Rule deleted.')}
            aria-label={`Delete the rule: ${words}`}
          >
            Delete
          </button>
        </span>
      )}
    </li>
  );
}

function Payees({ nameOf }: { readonly nameOf: (categoryId: string | null) => string }): ReactNode {
  const client = useClient();
  const run = useAction();
  const [search, setSearch] = useState('');
  const { rows: payees, loading } = useSteadyQuery<PayeeUseRow>(payeesInUse, payeeSearch(search));
  return (
    <section>
      <h2>Payees</h2>
      <p className="hint">
        New entries get the last category of their payee. To merge two payees, rename one to the name of the other.
      </p>
      <input
        type="search"
        className="search"
        aria-label="Search payees"
        placeholder="Search payees"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {!loading && payees.length === 0 && (
        <p className="empty">{search === '' ? 'No payees yet.' : 'No payees found.'}</p>
      )}
      {payees.length > 0 && (
        <ul className="payee-list card">
          {payees.map((row) => (
            <li key={row.payee}>
              <NameField
                name={row.payee}
                onRename={(name) =>
                  run(
                    () => renamePayee(client, row.payee, name),
                    (count) => `${count === 1 ? '1 entry' : `${count.toLocaleString(locale)} entries`} renamed.`,
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
