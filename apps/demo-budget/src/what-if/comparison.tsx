import { useEffect, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayChangeBudget } from '../budget/role.ts';
import { useToday } from '../budget/view.ts';
import { monthAfter, monthOfDay } from '../calendar/months.ts';
import { ChangeLines } from '../history/change-lines.tsx';
import '../history/history.css';
import { currenciesOfAccounts, type CurrencyRow } from '../queries/accounts.ts';
import { useSettings } from '../settings/use-settings.ts';
import { Amount } from '../shell/amount.tsx';
import { CurrencyChoice, useCurrency } from '../shell/currency-choice.tsx';
import { errorSentence } from '../shell/error-sentence.ts';
import { useReport } from '../shell/failure.tsx';
import { formatMoment, formatMonthInFull, locale } from '../shell/locale.ts';
import { hashOf, placeOfHash } from '../shell/navigation.ts';
import { useQuery } from '../shell/use-query.ts';
import { differencesOf } from '../words/row-differences.ts';
import { conflictChoice, type ConflictChoice } from './conflict-choice.ts';
import type { MonthEffect } from './effect.ts';
import { takeOver, UnseenConflict, type Choice } from './take-over.ts';
import { useComparison } from './use-comparison.ts';
import { rememberEnd, useWhatIf, type End } from './what-if.ts';
import './what-if.css';

const shownAtMost = 100;

/** Shows the changes of a what-if, their effect on the envelopes of a month, and the ways to end it. */
export function Comparison({ budget }: { readonly budget: Budget }): ReactNode {
  const { branch, today, onEnding } = useWhatIf();
  const report = useReport();
  const mayTakeOver = useMayChangeBudget();
  const { rows: currencies } = useQuery<CurrencyRow>(currenciesOfAccounts);
  const [currency = 'EUR', choice] = useCurrency(currencies);
  const { firstDay } = useSettings();
  const nextMonth = monthAfter(monthOfDay(useToday(), firstDay), 1);
  const [chosenMonth, setMonth] = useState<string | null>(null);
  const month = chosenMonth ?? nextMonth;
  const { compared, compareAgain } = useComparison({ currency, month });
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [problem, setProblem] = useState<string | null>(null);
  const [ending, setEnding] = useState(false);
  const [asking, setAsking] = useState(false);
  useEffect(() => setProblem(null), [choices]);
  if (compared === null) return <p role="status">Comparing with today …</p>;
  const { rows, conflicts, obstacle, effect, known } = compared;
  const differences = differencesOf(rows, known);
  const conflictChoices = conflicts.map((conflict) => conflictChoice(conflict, known));

  const finish = (end: End, work: () => Promise<void>): void => {
    setEnding(true);
    onEnding('busy');
    work()
      .then(() => {
        rememberEnd(end);
        // The user may have returned to today's budget in the meantime, and then stays there.
        if (placeOfHash(location.hash).view === 'what-if')
          location.hash = hashOf(budget, { page: 'what-if', view: 'today' });
      })
      .catch((error: unknown) => {
        setEnding(false);
        onEnding({ error });
        compareAgain();
        if (error instanceof UnseenConflict)
          setProblem('The budget changed in the meantime. Check the conflicts, then try again.');
        else report(error);
      });
  };
  const take = (): void => {
    if (conflictChoices.some(({ id }) => !choices.has(id))) return setProblem('Decide each conflict first.');
    finish('taken-over', () => takeOver({ branch, today }, choices));
  };

  return (
    <>
      <header className="page-head">
        <div>
          <h1>Compared with today</h1>
          <p className="hint">This what-if began {formatMoment(branch.begunMs)}.</p>
        </div>
        <CurrencyChoice {...choice} />
      </header>
      <section className="card form" aria-label="Effect on the budget">
        <div className="month-choice" role="group" aria-label="Month">
          <button type="button" onClick={() => setMonth(monthAfter(month, -1))} aria-label="Previous month">
            ‹
          </button>
          <strong aria-live="polite">{formatMonthInFull(month)}</strong>
          <button type="button" onClick={() => setMonth(monthAfter(month, 1))} aria-label="Next month">
            ›
          </button>
        </div>
        <EffectTable effect={effect} currency={currency} month={month} />
      </section>
      {conflictChoices.length > 0 && (
        <section className="card form" aria-label="Conflicts">
          <h2>Conflicts</h2>
          <p>Both the budget and the what-if changed these. Choose what to keep.</p>
          {conflictChoices.map((conflict) => (
            <ConflictFields
              key={conflict.id}
              conflict={conflict}
              choice={choices.get(conflict.id)}
              onChoose={(chosen) => setChoices((known) => new Map(known).set(conflict.id, chosen))}
            />
          ))}
        </section>
      )}
      <section className="card form" aria-label="What differs">
        <h2>What differs</h2>
        {differences.length === 0 && (
          <p className="empty">
            Nothing yet. Change the <a href={hashOf(budget, { page: 'envelopes', view: 'what-if' })}>budget</a>, or add
            entries that you plan in an <a href={hashOf(budget, { page: 'accounts', view: 'what-if' })}>account</a>.
          </p>
        )}
        {differences.length > 0 && (
          <ul className="moments">
            {differences.slice(0, shownAtMost).map(({ id, title, lines }) => (
              <li key={id} className="moment">
                <strong>{title}</strong>
                <ChangeLines lines={lines} />
              </li>
            ))}
          </ul>
        )}
        {differences.length > shownAtMost && (
          <p className="hint">And {(differences.length - shownAtMost).toLocaleString(locale)} more.</p>
        )}
      </section>
      {obstacle !== null && <p className="problem">{errorSentence(obstacle)}</p>}
      {!mayTakeOver && <p className="hint">You can view this budget but not change it, so this stays a what-if.</p>}
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {asking ? (
        <div className="offer" role="alert">
          <span>Discard the what-if and all its changes?</span>
          <button
            type="button"
            className="danger"
            autoFocus
            disabled={ending}
            onClick={() => finish('thrown-away', () => branch.discard())}
          >
            Discard it
          </button>
          <button type="button" className="quiet" onClick={() => setAsking(false)}>
            Keep it
          </button>
        </div>
      ) : (
        <div className="buttons">
          {mayTakeOver && obstacle === null && differences.length > 0 && (
            <button type="button" className="primary" disabled={ending} onClick={take}>
              Apply to the budget
            </button>
          )}
          <button type="button" disabled={ending} onClick={() => setAsking(true)}>
            Discard …
          </button>
        </div>
      )}
    </>
  );
}

interface EffectTableProps {
  readonly effect: MonthEffect;
  readonly currency: string;
  readonly month: string;
}

/** The available money of the envelopes that differ, today and in the what-if. */
function EffectTable({ effect: { envelopes, unassigned }, currency, month }: EffectTableProps): ReactNode {
  const lines = [{ categoryId: '', name: 'Ready to assign', ...unassigned }, ...envelopes].filter(
    ({ todayMinor, whatIfMinor }) => todayMinor !== whatIfMinor,
  );
  if (lines.length === 0) return <p className="empty">No envelope differs in {formatMonthInFull(month)}.</p>;
  return (
    <table role="table" className="figures effect" aria-label={`Available in ${formatMonthInFull(month)}`}>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">
            Available
          </th>
          <th role="columnheader" scope="col" className="number">
            Today
          </th>
          <th role="columnheader" scope="col" className="number">
            What if
          </th>
          <th role="columnheader" scope="col" className="number">
            Difference
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {lines.map(({ categoryId, name, todayMinor, whatIfMinor }) => (
          <tr role="row" key={categoryId}>
            <th role="rowheader" scope="row">
              {name}
            </th>
            <td role="cell" className="number" data-of="Today">
              <Amount minor={todayMinor} currency={currency} />
            </td>
            <td role="cell" data-of="What if" className={`number${whatIfMinor < 0n ? ' overspent' : ''}`}>
              <Amount minor={whatIfMinor} currency={currency} />
            </td>
            <td role="cell" className="number" data-of="Difference">
              <Amount minor={whatIfMinor - todayMinor} currency={currency} signed />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ConflictFieldsProps {
  readonly conflict: ConflictChoice;
  readonly choice: Choice | undefined;
  readonly onChoose: (choice: Choice) => void;
}

function ConflictFields({ conflict: { id, title, today, whatIf }, choice, onChoose }: ConflictFieldsProps): ReactNode {
  const options = [
    ['origin', 'Today', today],
    ['branch', 'What if', whatIf],
  ] as const;
  return (
    <fieldset className="conflict-fields">
      <legend>{title}</legend>
      {options.map(([option, label, words]) => (
        <label key={option} className="check">
          <input type="radio" name={id} checked={choice === option} onChange={() => onChoose(option)} />
          <span>
            {label}: <strong>{words}</strong>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
