import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import type { ScheduleRow } from '../queries/schedules.ts';
import { Amount } from '../shell/amount.tsx';
import { closeForm } from '../shell/close-form.ts';
import { useAction, useSave } from '../shell/failure.tsx';
import { formatDay, today } from '../shell/locale.ts';
import { NoAccountYet } from '../shell/no-account-yet.tsx';
import { editButtonId, isListed, withOpenedRows, type OpenedRow } from '../shell/opened-row.ts';
import { useQuery } from '../shell/use-query.ts';
import { addSchedule, changeSchedule, deleteSchedule, enterDays, skipDay, type DueDay } from './actions.ts';
import { nextDay } from './occurrences.ts';
import { repetitionWords } from './repetition-words.ts';
import { scheduleName } from './schedule-name.ts';
import { ScheduleForm, type ScheduleFormProps } from './schedule-form.tsx';
import { useSchedules } from './use-schedules.ts';

/** Recurring entries: those that are due, and all schedules. */
export function SchedulesView({ budget }: { readonly budget: Budget }): ReactNode {
  const client = useClient();
  const save = useSave();
  const { schedules, due, loading } = useSchedules();
  const { rows: allAccounts } = useQuery<AccountRow>(accountsWithBalances);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const mayWrite = useMayWrite();
  const [isAdding, setAdding] = useState(false);
  const adding = isAdding && mayWrite;
  // Several may be open: opening one must not discard what was typed into another.
  const [opened, setOpened] = useState<readonly OpenedRow<ScheduleRow>[]>([]);
  const edited = mayWrite ? opened : [];
  const listed = withOpenedRows(schedules, edited);
  const accounts = allAccounts.filter((account) => account.closed === 0);
  if (loading) return null;
  return (
    <>
      <header className="page-head">
        <h1>Scheduled</h1>
        {mayWrite && accounts.length > 0 && !adding && (
          <button type="button" className="primary" onClick={() => setAdding(true)}>
            New scheduled entry
          </button>
        )}
      </header>
      {adding && (
        <ScheduleForm
          accounts={accounts}
          categories={categories}
          onSave={(fields) =>
            save(
              () => addSchedule(client, fields),
              'Scheduled.',
              () => setAdding(false),
            )
          }
          onCancel={() => setAdding(false)}
        />
      )}
      {due.length > 0 && <DueList due={due} />}
      {listed.length === 0 && accounts.length > 0 && !adding && (
        <p className="empty">Enter rent, wages or the phone bill once, and they repeat.</p>
      )}
      {accounts.length === 0 && <NoAccountYet budget={budget}>Nothing to schedule yet.</NoAccountYet>}
      {listed.length > 0 && (
        <section>
          <h2>All</h2>
          <ul className="schedule-list card">
            {listed.map((schedule, index) => {
              const own = edited.find(({ row }) => row.id === schedule.id);
              return own !== undefined ? (
                <li key={schedule.id}>
                  <EditedSchedule
                    schedule={own.row}
                    isListed={isListed(schedules, own)}
                    accounts={accounts}
                    categories={categories}
                    onLeave={() =>
                      closeForm(
                        () => setOpened((last) => last.filter((other) => other !== own)),
                        editButtonId(schedule.id),
                      )
                    }
                  />
                </li>
              ) : (
                <li key={schedule.id} className="schedule">
                  {mayWrite ? (
                    <button
                      type="button"
                      id={editButtonId(schedule.id)}
                      className="quiet schedule-open"
                      onClick={() => setOpened((last) => [...last, { row: schedule, index }])}
                      aria-label={`Edit ${scheduleName(schedule)}`}
                    >
                      <ScheduleWords schedule={schedule} />
                    </button>
                  ) : (
                    <span>
                      <ScheduleWords schedule={schedule} />
                    </span>
                  )}
                  <Amount minor={schedule.amountMinor} currency={schedule.currency} signed />
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </>
  );
}

interface EditedScheduleProps extends Pick<ScheduleFormProps, 'isListed' | 'accounts' | 'categories'> {
  readonly schedule: ScheduleRow;
  readonly onLeave: () => void;
}

function EditedSchedule({ schedule, onLeave, ...form }: EditedScheduleProps): ReactNode {
  const client = useClient();
  const save = useSave();
  return (
    <ScheduleForm
      {...form}
      schedule={schedule}
      onSave={(fields) => save(() => changeSchedule(client, schedule.id, schedule, fields), 'Changed.', onLeave)}
      onCancel={onLeave}
      onDelete={() =>
        save(() => deleteSchedule(client, schedule.id), `${scheduleName(schedule)} is no longer scheduled.`, onLeave)
      }
    />
  );
}

function ScheduleWords({ schedule }: { readonly schedule: ScheduleRow }): ReactNode {
  return (
    <>
      <span className="payee">{scheduleName(schedule)}</span>
      <span className="notes">
        {schedule.accountName}, {repetitionWords(schedule)}
        {nextWords(schedule)}
      </span>
    </>
  );
}

function nextWords(schedule: ScheduleRow): string {
  const next = nextDay(schedule, today());
  return next === undefined ? ', has ended' : `, next on ${formatDay(next)}`;
}

function DueList({ due }: { readonly due: readonly DueDay[] }): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const now = today();
  const overdue = due.filter(({ date }) => date <= now);
  return (
    <section aria-label="Due">
      <div className="section-head">
        <h2>Due</h2>
        {mayWrite && overdue.length > 1 && (
          <button
            type="button"
            onClick={() => run(() => enterDays(client, overdue), `${overdue.length} entries added.`)}
          >
            Add all {overdue.length} that are due
          </button>
        )}
      </div>
      <ul className="schedule-list card">
        {due.map((day) => (
          <li key={`${day.schedule.id} ${day.date}`} className="schedule due">
            <span>
              <span className="payee">{scheduleName(day.schedule)}</span>
              <span className={day.date < now ? 'notes late' : 'notes'}>
                {dueWords(day.date, now)} · {day.schedule.accountName}
              </span>
            </span>
            <Amount minor={day.schedule.amountMinor} currency={day.schedule.currency} signed />
            {mayWrite && (
              <span className="buttons">
                <button
                  type="button"
                  onClick={() => run(() => enterDays(client, [day]), `${scheduleName(day.schedule)} was added.`)}
                  aria-label={`Add ${scheduleName(day.schedule)} of ${formatDay(day.date)}`}
                >
                  Add
                </button>
                <button
                  type="button"
                  className="quiet"
                  onClick={() => run(() => skipDay(client, day), `${scheduleName(day.schedule)} was skipped.`)}
                  aria-label={`Skip ${scheduleName(day.schedule)} of ${formatDay(day.date)}`}
                >
                  Skip
                </button>
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function dueWords(date: string, now: string): string {
  if (date === now) return 'today';
  return date < now ? `since ${formatDay(date)}` : `on ${formatDay(date)}`;
}
