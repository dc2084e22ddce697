import type { Client } from '@rockpool/client';
import { liveQueries, type LiveQueryInfo } from '@rockpool/client/devtools';
import { useClient } from '@rockpool/client/react';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { locale } from '../shell/locale.ts';
import { usePolled } from './use-polled.ts';

/**
 * The live queries behind the open page: the SQL of each, the time of its last run, the rows that it returned, what it
 * reads, and how often a commit made it run again.
 */
export function QueryTable(): ReactNode {
  const client = useClient();
  const read = useCallback(() => liveQueries(client), [client]);
  const queries = usePolled(read, 400) ?? [];
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <div className="how-scroll" tabIndex={0} role="region" aria-label="Live queries">
      <table className="figures how-queries">
        <thead>
          <tr>
            <th scope="col">SQL</th>
            <th scope="col">Reads</th>
            <th scope="col" className="number">
              Rows
            </th>
            <th scope="col" className="number">
              Time
            </th>
            <th scope="col" className="number">
              Woken
            </th>
          </tr>
        </thead>
        <tbody>
          {queries.map((query) => (
            <QueryRow
              key={query.sql}
              query={query}
              client={client}
              isOpen={opened === query.sql}
              onToggle={() => setOpened(opened === query.sql ? null : query.sql)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface QueryRowProps {
  readonly query: LiveQueryInfo;
  readonly client: Client;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function QueryRow({ query, client, isOpen, onToggle }: QueryRowProps): ReactNode {
  const { sql, rowCount, dependencies, wakeCount, lastRunMs } = query;
  const lastWakes = useRef(wakeCount);
  const [woke, setWoke] = useState(0);
  useEffect(() => {
    if (lastWakes.current !== wakeCount) setWoke((count) => count + 1);
    lastWakes.current = wakeCount;
  }, [wakeCount]);
  const oneLine = sql.replace(/\s+/g, ' ').trim();
  return (
    <>
      {/* A new key restarts the animation. */}
      <tr key={woke} className={woke > 0 ? 'woken' : ''}>
        <td>
          <button type="button" className="quiet how-sql" aria-expanded={isOpen} onClick={onToggle}>
            <code>{oneLine}</code>
          </button>
        </td>
        <td className="hint">{dependencies?.map(({ table }) => table).join(', ') ?? 'every table'}</td>
        <td className="number">{rowCount.toLocaleString(locale)}</td>
        <td className="number">{lastRunMs === null ? '—' : `${lastRunMs.toFixed(1)} ms`}</td>
        <td className="number">{wakeCount.toLocaleString(locale)}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5}>
            <pre className="how-code">{sql.trim()}</pre>
            <QueryPlan client={client} sql={sql} />
          </td>
        </tr>
      )}
    </>
  );
}

/** How SQLite reads the tables: which index, and what it scans. */
function QueryPlan({ client, sql }: { readonly client: Client; readonly sql: string }): ReactNode {
  const [plan, setPlan] = useState<readonly string[]>([]);
  useEffect(() => {
    const parameterCount = sql.match(/\?/g)?.length ?? 0;
    client
      .query<{ detail: string }>(
        `EXPLAIN QUERY PLAN ${sql}`,
        Array.from({ length: parameterCount }, () => null),
      )
      .then(
        (rows) => setPlan(rows.map(({ detail }) => detail)),
        () => setPlan([]),
      );
  }, [client, sql]);
  if (plan.length === 0) return null;
  return (
    <ul className="how-plan" aria-label="Query plan">
      {plan.map((line, index) => (
        <li key={index}>
          <code>{line}</code>
        </li>
      ))}
    </ul>
  );
}
