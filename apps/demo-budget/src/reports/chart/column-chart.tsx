import { useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { formatMinorRounded } from '../../money/format.ts';
import { keyOf } from '../../shell/keys.ts';
import { locale } from '../../shell/locale.ts';
import { positionIn, scaleOf, type Scale } from './scale.ts';

/** A coloured part of a bar. Negative parts extend below the zero line. */
export interface ChartSegment {
  readonly id: string;
  readonly name: string;
  readonly minor: bigint;
  /** The CSS custom property of a colour, such as `--series-1`. */
  readonly colour: string;
}

/** One label of the time axis with its bars: bars side by side, each a stack of segments. */
export interface ChartColumn {
  readonly id: string;
  readonly label: string;
  /** The full label, for the tooltip and for screen readers. */
  readonly title: string;
  readonly bars: readonly (readonly ChartSegment[])[];
  /** A point of the line over the bars. */
  readonly lineMinor?: bigint;
  /** Tooltip text below the segments, such as a total. */
  readonly summary: readonly ChartFact[];
}

export interface ChartFact {
  readonly name: string;
  readonly minor: bigint;
}

export interface ColumnChartProps {
  readonly label: string;
  readonly currency: string;
  readonly columns: readonly ChartColumn[];
  /** The column whose entries are shown below the chart. */
  readonly chosenId: string | null;
  /** Called to show the entries behind a column or one of its segments. */
  readonly onChoose: (columnId: string, segmentId: string | null) => void;
}

/**
 * A bar chart over time. Each column is a button: arrow keys move between columns, Enter selects one, and the
 * accessible name contains its figures; a pointer selects a single segment. Bars are HTML elements, so that labels keep
 * their size at any width.
 */
export function ColumnChart({ label, currency, columns, chosenId, onChoose }: ColumnChartProps): ReactNode {
  const scale = scaleOf(columns.flatMap(extremesOf));
  const [focusedId, setFocusedId] = useState<string | null>(null);
  const [shownId, setShownId] = useState<string | null>(null);
  const plot = useRef<HTMLDivElement>(null);
  const tabStop = Math.max(
    0,
    columns.findIndex(({ id }) => id === (focusedId ?? chosenId ?? columns.at(-1)?.id)),
  );
  const shown = columns.findIndex(({ id }) => id === shownId);

  const walk = (event: KeyboardEvent, from: number): void => {
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: columns.length - 1 }[event.key];
    if (keyOf(event) === 'Escape') setShownId(null);
    if (to === undefined) return;
    event.preventDefault();
    plot.current?.querySelectorAll('button')[Math.min(Math.max(to, 0), columns.length - 1)]?.focus();
  };

  return (
    <div className="chart-area" role="group" aria-label={label}>
      <Axis scale={scale} currency={currency} />
      <div className="chart-plot" ref={plot} onPointerLeave={() => setShownId(null)}>
        {columns.map((column, index) => (
          <button
            key={column.id}
            type="button"
            className="chart-column"
            tabIndex={index === tabStop ? 0 : -1}
            aria-label={nameOf(column, currency)}
            aria-pressed={column.id === chosenId}
            onPointerEnter={() => setShownId(column.id)}
            onFocus={() => {
              setFocusedId(column.id);
              setShownId(column.id);
            }}
            onBlur={() => setShownId(null)}
            onKeyDown={(event) => walk(event, index)}
            onClick={(event) => onChoose(column.id, segmentAt(event.target))}
          >
            {column.bars.map((segments, bar) => (
              <Bar key={bar} segments={segments} scale={scale} />
            ))}
          </button>
        ))}
        <Line columns={columns} scale={scale} />
        {shown !== -1 && (
          <Tooltip column={columns[shown] as ChartColumn} share={(shown + 0.5) / columns.length} currency={currency} />
        )}
      </div>
      <div className="chart-labels" aria-hidden="true">
        {columns.map(({ id, label: text }, index) => (
          <span key={id} data-every={evennessOf(columns.length - 1 - index)}>
            {text}
          </span>
        ))}
      </div>
    </div>
  );
}

function Axis({ scale, currency }: { readonly scale: Scale; readonly currency: string }): ReactNode {
  return (
    <div className="chart-axis" aria-hidden="true">
      {scale.ticks.map((tick) => (
        <div
          key={tick}
          className={tick === 0 ? 'zero' : undefined}
          style={{ insetBlockEnd: percent(positionIn(scale, tick)) }}
        >
          <span>{formatMinorRounded(Math.round(tick), currency, locale)}</span>
        </div>
      ))}
    </div>
  );
}

function Bar({ segments, scale }: { readonly segments: readonly ChartSegment[]; readonly scale: Scale }): ReactNode {
  let above = 0;
  let below = 0;
  return (
    <span className="chart-bar">
      {segments
        .filter(({ minor }) => minor !== 0n)
        .map(({ id, minor, colour }) => {
          const value = Number(minor);
          const from = value < 0 ? (below += value) : above;
          const to = value < 0 ? from - value : (above += value);
          const style = {
            insetBlockEnd: percent(positionIn(scale, from)),
            blockSize: percent(positionIn(scale, to) - positionIn(scale, from)),
            background: `var(${colour})`,
          };
          return <span key={id} data-segment={id} style={style} />;
        })}
    </span>
  );
}

/**
 * The line over the bars, for columns that have a line value. It stretches with the plot; its stroke width does not.
 */
function Line({ columns, scale }: { readonly columns: readonly ChartColumn[]; readonly scale: Scale }): ReactNode {
  const points = columns.flatMap(({ id, lineMinor }, index) =>
    lineMinor === undefined ? [] : [{ id, x: (index + 0.5) / columns.length, y: positionIn(scale, Number(lineMinor)) }],
  );
  if (points.length === 0) return null;
  return (
    <div className="chart-line" aria-hidden="true">
      <svg viewBox="0 0 1 1" preserveAspectRatio="none">
        <polyline points={points.map(({ x, y }) => `${x},${1 - y}`).join(' ')} />
      </svg>
      {points.length <= 24 &&
        points.map(({ id, x, y }) => (
          <i key={id} style={{ insetInlineStart: percent(x), insetBlockEnd: percent(y) }} />
        ))}
    </div>
  );
}

interface TooltipProps {
  readonly column: ChartColumn;
  /** Position along the plot, from 0 to 1. */
  readonly share: number;
  readonly currency: string;
}

function Tooltip({ column, share, currency }: TooltipProps): ReactNode {
  const segments = column.bars.flat().filter(({ minor }) => minor !== 0n);
  // The total of a single segment would add nothing.
  const summary =
    segments.length === 1 ? column.summary.filter(({ minor }) => minor !== segments[0]?.minor) : column.summary;
  return (
    <div
      className={`chart-tooltip${share > 0.5 ? ' to-the-left' : ''}`}
      style={{ insetInlineStart: percent(share) }}
      aria-hidden="true"
    >
      <strong>{column.title}</strong>
      <dl>
        {segments.map(({ id, name, minor, colour }) => (
          <div key={id}>
            <dt>
              <i className="swatch" style={{ background: `var(${colour})` }} />
              {name}
            </dt>
            <dd>{formatMinorRounded(minor, currency, locale)}</dd>
          </div>
        ))}
        {summary.map(({ name, minor }) => (
          <div key={name} className="summary">
            <dt>{name}</dt>
            <dd>{formatMinorRounded(minor, currency, locale)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function extremesOf({ bars, lineMinor }: ChartColumn): number[] {
  const sums = bars.flatMap((segments) =>
    [segments.filter(({ minor }) => minor > 0n), segments.filter(({ minor }) => minor < 0n)].map((part) =>
      part.reduce((sum, { minor }) => sum + Number(minor), 0),
    ),
  );
  return lineMinor === undefined ? sums : [...sums, Number(lineMinor)];
}

function nameOf({ title, summary }: ChartColumn, currency: string): string {
  return [
    title,
    ...summary.map(({ name, minor }) => `${name} ${formatMinorRounded(minor, currency, locale)} ${currency}`),
  ].join(', ');
}

function segmentAt(target: EventTarget): string | null {
  return target instanceof HTMLElement ? (target.dataset['segment'] ?? null) : null;
}

/**
 * The largest of 12, 6, 3, 2, 1 that divides the distance from the last label. The style sheet uses it to drop labels
 * if space is short.
 */
function evennessOf(distance: number): number {
  return [12, 6, 3, 2].find((step) => distance % step === 0) ?? 1;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
