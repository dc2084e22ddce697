import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { categoriesByName, latestConflicts, type CategoryRow, type ConflictRow } from '../queries.ts';
import { useAction } from '../shell/failure.tsx';
import { formatDay, formatMoment, locale } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
import { restoreLostValue } from './actions.ts';
import { columnWord, restoreStatement, valueWord } from './conflicts.ts';

/** What was changed on two devices at once: which value stands, which one lost, and a way to put it back. */
export function ConflictList({ device }: { readonly device: string }): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const { rows: conflicts, loading } = useQuery<ConflictRow>(latestConflicts);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const names = new Map(categories.map((category) => [category.id, category.name]));
  if (loading) return null;
  return (
    <section>
      <h2>Changed on two devices at once</h2>
      {conflicts.length === 0 && <p className="empty">Nothing so far. Where two devices change the same thing before they hear of each other, the later change stands, and the other is kept here.</p>}
      <ul className="conflicts">
        {conflicts.map((conflict) => (
          <li key={conflict.id} className="card conflict">
            <p className="conflict-what">
              <strong>{conflict.rowName === null || conflict.rowName === '' ? 'Something that was deleted' : conflict.rowName}</strong>
              {conflict.rowDate !== null && `, ${formatDay(conflict.rowDate)}`} · {columnWord(conflict.columnName)}
            </p>
            <p>
              <b>{valueWord(conflict.wonValue, conflict, names, locale)}</b> from {authorWord(conflict.wonBy, device)} replaced <b>{valueWord(conflict.lostValue, conflict, names, locale)}</b> from{' '}
              {authorWord(conflict.lostBy, device)}, {formatMoment(conflict.lostAtMs)}.
            </p>
            {mayWrite && restoreStatement(conflict) !== undefined && (
              <button type="button" onClick={() => run(() => restoreLostValue(client, conflict))}>
                Restore {valueWord(conflict.lostValue, conflict, names, locale)}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function authorWord(author: string, device: string): string {
  return author === device ? 'this device' : 'another device';
}
