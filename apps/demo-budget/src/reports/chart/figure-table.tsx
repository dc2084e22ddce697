import type { ReactNode } from 'react';
import { Amount } from '../../shell/amount.tsx';

export interface FigureTableProps {
  readonly caption: string;
  readonly currency: string;
  /** The first is that of the rows' names. */
  readonly head: readonly string[];
  readonly rows: readonly { readonly id: string; readonly name: string; readonly figuresMinor: readonly bigint[] }[];
}

/** Exact figures behind a chart: a line for each of its columns. */
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
