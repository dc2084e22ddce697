import type { ReactNode } from 'react';
import type { AccountRow } from '../queries/accounts.ts';
import type { RuleField, RuleTest } from '../schema.ts';
import { choicesOf, testsOf, type RuleCondition } from './rule.ts';
import { fieldWords, testWords } from './rule-words.ts';

/** A condition being edited, with the amount as typed. */
export interface ConditionDraft extends RuleCondition {
  /** Identifies a draft while it is edited. */
  readonly key: string;
}

export interface ConditionFieldsProps {
  readonly condition: ConditionDraft;
  /** Counted from 1. */
  readonly number: number;
  readonly accounts: readonly AccountRow[];
  readonly onChange: (change: Partial<RuleCondition>) => void;
  /** Undefined if there is only one. */
  readonly onRemove: (() => void) | undefined;
}

/** One condition of a rule: field, test and value. */
export function ConditionFields({
  condition: { field, test, value },
  number,
  accounts,
  onChange,
  onRemove,
}: ConditionFieldsProps): ReactNode {
  const chooseField = (chosen: RuleField): void => {
    const keepsValue = (field === 'payee' || field === 'notes') && (chosen === 'payee' || chosen === 'notes');
    onChange({
      field: chosen,
      test: keepsValue ? test : (testsOf[chosen][0] ?? 'is'),
      value: keepsValue ? value : chosen === 'account' ? (accounts[0]?.id ?? '') : '',
    });
  };
  const label = `Value of condition ${number}`;
  return (
    <div className="condition" role="group" aria-label={`Condition ${number}`}>
      <select
        aria-label={`Field of condition ${number}`}
        value={field}
        onChange={(event) => chooseField(event.target.value as RuleField)}
      >
        {Object.entries(fieldWords).map(([choice, word]) => (
          <option key={choice} value={choice}>
            {word}
          </option>
        ))}
      </select>
      <select
        aria-label={`Operator of condition ${number}`}
        value={test}
        onChange={(event) => onChange({ test: event.target.value as RuleTest })}
      >
        {testsOf[field].map((choice) => (
          <option key={choice} value={choice}>
            {testWords[choice]}
          </option>
        ))}
      </select>
      {field === 'account' ? (
        <select
          aria-label={label}
          multiple={test === 'one-of'}
          value={test === 'one-of' ? choicesOf(value) : (choicesOf(value)[0] ?? '')}
          onChange={(event) =>
            onChange({ value: [...event.target.selectedOptions].map((option) => option.value).join('\n') })
          }
        >
          {accounts.map((account) => (
            <option key={account.id} value={account.id}>
              {account.name}
            </option>
          ))}
        </select>
      ) : test === 'one-of' ? (
        <textarea
          aria-label={label}
          placeholder="One in each line"
          rows={2}
          value={value}
          onChange={(event) => onChange({ value: event.target.value })}
        />
      ) : (
        <input
          aria-label={label}
          value={value}
          onChange={(event) => onChange({ value: event.target.value })}
          inputMode={field === 'amount' ? 'decimal' : 'text'}
          autoComplete="off"
          autoFocus={number === 1}
        />
      )}
      {onRemove !== undefined && (
        <button type="button" className="quiet" aria-label={`Remove condition ${number}`} onClick={onRemove}>
          ×
        </button>
      )}
    </div>
  );
}
