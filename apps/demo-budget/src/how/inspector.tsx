import type { ReactNode } from 'react';
import { QueryTable } from './query-table.tsx';
import { useInspector } from './inspector-state.ts';

/** The queries behind the open page, shown below it. */
export default function Inspector(): ReactNode {
  const { setShown } = useInspector();
  return (
    <aside className="inspector" aria-label="Queries of this page">
      <header>
        <strong>SQL behind this page</strong>
        <button type="button" className="quiet" onClick={() => setShown(false)}>
          Close
        </button>
      </header>
      <QueryTable />
    </aside>
  );
}
