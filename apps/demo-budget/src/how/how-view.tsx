import type { ReactNode } from 'react';
import { ChangesCard, PlaceCard } from './changes-card.tsx';
import { ConflictWalk } from './conflict-walk.tsx';
import { QueryTable } from './query-table.tsx';
import { useInspector } from './inspector-state.ts';

/** Documents and source files to read, each with what it explains. */
const reading: readonly (readonly [string, string])[] = [
  ['docs/quick-start.md', 'a first app in a few minutes'],
  ['docs/concepts.md', 'databases, changesets, the outbox, merging'],
  ['docs/merge-rules.md', 'what wins when two devices change the same thing'],
  ['docs/storage.md', 'the files and tables on the device, and what a crash leaves'],
  ['apps/demo-budget/src/schema.ts', 'the tables of this budget'],
  ['apps/demo-budget/src/queries/', 'every live query of this app'],
  ['docs/guides/history.md', 'versions, past states, restoring'],
  ['apps/demo-budget/src/how/', 'this page: the public API alone'],
];

/** The API calls behind the pages that show a past state or a what-if. */
const looking: readonly (readonly [string, string])[] = [
  ["client.history('entries', id)", 'who changed a row, when and what; also after it was deleted'],
  ["history.document('content')", 'the versions of a note, with their text'],
  ['client.past({ time })', 'the tables as they were, for any SELECT'],
  ["client.branch('what-if')", 'a copy of the database on this device; diff, preview, merge, discard'],
];

/**
 * The page that explains to developers how the app works: its queries, its changes and its storage. A walkthrough
 * produces a conflict.
 */
export default function HowView(): ReactNode {
  const { isShown, setShown } = useInspector();
  return (
    <>
      <header className="page-head">
        <h1>How this works</h1>
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide the SQL on other pages' : 'Show the SQL on every page'}
        </button>
      </header>
      <p>
        This app has no API calls for its data. Each page runs SQL on a SQLite database in this browser, and a query
        runs again when a commit changes what it reads, whether in this tab, in another tab or on another device.
      </p>
      <PlaceCard />
      <section className="card form" aria-label="Queries">
        <h2>Live queries of this page</h2>
        <p>A query that runs again is highlighted. Select one to see its text and SQLite’s plan.</p>
        <QueryTable />
      </section>
      <ChangesCard />
      <ConflictWalk />
      <section className="card form" aria-label="History and branches">
        <h2>History and branches</h2>
        <p>
          The schema declares a history for most tables, so the server keeps what each transaction replaced. The past
          and a what-if are shown by the usual pages with a different client.
        </p>
        <ul className="how-reading">
          {looking.map(([code, about]) => (
            <li key={code}>
              <code>{code}</code> <span className="hint">{about}</span>
            </li>
          ))}
        </ul>
      </section>
      <section className="card form" aria-label="Further reading">
        <h2>Further reading</h2>
        <p>In the repository that this server runs from:</p>
        <ul className="how-reading">
          {reading.map(([path, about]) => (
            <li key={path}>
              <code>{path}</code> <span className="hint">{about}</span>
            </li>
          ))}
        </ul>
        <p>
          In the console of this page: <code>await rockpool.query('SELECT * FROM entries LIMIT 5')</code>
        </p>
      </section>
    </>
  );
}
