import type { ReactNode } from 'react';
import type { ChangeLine } from './moment-words.ts';

/** The changed values, one per line: `Amount €12.00 → €15.00`. */
export function ChangeLines({ lines }: { readonly lines: readonly ChangeLine[] }): ReactNode {
  if (lines.length === 0) return null;
  return (
    <dl className="change-lines">
      {lines.map(({ label, before, after }, index) => (
        <div key={`${index} ${label}`}>
          <dt>{label}</dt>
          <dd>
            {before !== null && (
              <>
                <span className="visually-hidden">{after === null ? 'removed: ' : 'from '}</span>
                <del>{before}</del>
              </>
            )}
            {before !== null && after !== null && (
              <>
                {' '}
                <span aria-hidden="true">→ </span>
                <span className="visually-hidden">to </span>
              </>
            )}
            {after !== null && <ins>{after}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
