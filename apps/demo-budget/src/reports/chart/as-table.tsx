import type { ReactNode } from 'react';

/** The figures of a chart as a table, for screen readers and for users who prefer numbers. */
export function AsTable({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <details className="as-table">
      <summary>Show as a table</summary>
      {children}
    </details>
  );
}
