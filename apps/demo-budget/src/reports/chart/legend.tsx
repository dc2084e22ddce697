import type { ReactNode } from 'react';

/** The legend: names with the custom property of their colour. */
export function Legend({
  entries,
}: {
  readonly entries: readonly (readonly [name: string, colour: string])[];
}): ReactNode {
  return (
    <ul className="legend" aria-hidden="true">
      {entries.map(([name, colour]) => (
        <li key={name}>
          <i className="swatch" style={{ background: `var(${colour})` }} />
          {name}
        </li>
      ))}
    </ul>
  );
}
