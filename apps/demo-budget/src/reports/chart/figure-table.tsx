import type { ReactNode } from 'react';
import { Amount } from '../../shell/amount.tsx';

export interface FigureTableProps {
  readonly caption: string;
  readonly currency: string;
  /** The first header labels the column of row names. */
  readonly head: readonly string[];
  readonly rows: readonly { readonly id: string; readonly name: string; readonly figuresMinor: readonly bigint[] }[];
}

/** The exact figures behind a chart: one row per chart column. */
export function FigureTable({ caption, currency, head, rows }: FigureTableProps): ReactNode {
  return (
    <div className="table-scroll" role="region" aria-label={caption} tabIndex={0}>
      <table className="figures">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {head.map((word, index) => (
              <th key={word} scope="col" className={index === 0 ? undefined : 'number'}>
                {word}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, figuresMinor }) => (
            <tr key={id}>
              <th scope="row">{name}</th>
              {figuresMinor.map((minor, index) => (
                <td key={head[index + 1]} className="number">
                  <Amount minor={minor} currency={currency} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
