import type { Client } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { latestAssignmentIds } from '../queries/envelopes.ts';
import { useAction, useReport } from '../shell/failure.tsx';
import { useQuery } from '../shell/use-query.ts';
import { useWording } from '../words/use-wording.ts';
import './history.css';
import { MomentList } from './moment-list.tsx';
import type { HistoryRow, Moment } from './moments.ts';
import { useHistories } from './use-histories.ts';

export interface CategoryHistoryProps {
  readonly categoryId: string;
  readonly name: string;
  readonly currency: string;
}

/** The maximum number of assignments to show, latest first: each is a row whose history is requested separately. */
const assignmentsAtMost = 12;

/** Who assigned money to a category, and who changed the category and its goal. */
export default function CategoryHistory({ categoryId, name, currency }: CategoryHistoryProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const report = useReport();
  const mayWrite = useMayWrite();
  const wording = useWording();
  const assignments = useQuery<{ readonly id: string }>(latestAssignmentIds, [categoryId, currency, assignmentsAtMost]);
  const main: HistoryRow = { table: 'categories', key: categoryId };
  const rows: readonly HistoryRow[] = [
    main,
    { table: 'goals', key: `${categoryId}/${currency}` },
    ...assignments.rows.map(({ id }): HistoryRow => ({ table: 'assignments', key: id })),
  ];
  const histories = useHistories(assignments.loading ? null : rows, report);
  // The newest version of the category, and of its goal, is the current state.
  const newest = new Set(
    [
      ...Map.groupBy(
        histories.moments.flatMap(({ changes }) => changes),
        ({ row }) => row.table,
      ).values(),
    ].map(([first]) => first),
  );
  const olderOf = ({ changes }: Moment): Moment['changes'] =>
    changes.filter((change) => change.row.table !== 'assignments' && !newest.has(change));
  return (
    <section className="history" aria-label={`History of ${name}`}>
      <MomentList histories={histories} main={main} currency={currency} wording={wording}>
        {(moment) =>
          mayWrite &&
          moment.version !== null &&
          olderOf(moment).length > 0 && (
            <div className="buttons">
              <button
                type="button"
                className="quiet"
                onClick={() => run(() => restoreRows(client, olderOf(moment)), 'Restored.')}
              >
                Restore
              </button>
            </div>
          )
        }
      </MomentList>
    </section>
  );
}

const categoryColumns = ['name', 'groupName', 'note', 'hidden', 'keepsOverspent'];

/** Gives the category or its goal the values of these versions. */
async function restoreRows(client: Pick<Client, 'history'>, changes: Moment['changes']): Promise<void> {
  for (const { row, version } of changes) {
    if (version.version === null) continue;
    const history = await client.history(row.table, row.key);
    await history.restore(version.version, row.table === 'categories' ? { columns: categoryColumns } : {});
  }
}
