import type { Workload } from '../storage/workload.ts';
import type { Measurement } from './run.ts';
import { SUBJECTS } from './subjects.ts';

export interface Figure {
  readonly subject: string;
  /** Null before the first measurement, and if a result was wrong. */
  readonly median: number | null;
  readonly least: number;
  readonly greatest: number;
  readonly error: string | null;
}

/** The measurements of one workload, by subject. */
export function figuresOf(measurements: readonly Measurement[], workload: Workload): Figure[] {
  return SUBJECTS.map(({ name }) => {
    const own = measurements.filter((one) => one.workload === workload.id && one.subject === name);
    const error = own.find((one) => one.value === null)?.error ?? null;
    const values = own.flatMap(({ value }) => (value === null ? [] : [value])).sort((a, b) => a - b);
    const middle = values.length >> 1;
    const median = values.length % 2 === 1 ? values[middle] : ((values[middle - 1] ?? 0) + (values[middle] ?? 0)) / 2;
    return {
      subject: name,
      median: error !== null || values.length === 0 ? null : (median ?? null),
      least: values[0] ?? 0,
      greatest: values.at(-1) ?? 0,
      error,
    };
  });
}

export function shown(value: number, unit: string): string {
  return `${value.toLocaleString('en', { maximumSignificantDigits: 3 })} ${unit}`;
}

/** A cell of the table: the median, with the least and the greatest value if they differ. */
export function cell({ median, least, greatest, error }: Figure, unit: string): string {
  if (error !== null) return `failed: ${firstLine(error)}`;
  if (median === null) return '–';
  if (least === greatest) return shown(median, unit);
  return `${shown(median, unit)} (${shown(least, '').trim()}–${shown(greatest, '').trim()})`;
}

/** Without the stack, which a table has no room for. */
function firstLine(error: string): string {
  return (error.split('\n')[0] ?? '').replace(/^(\w*Error: )+/, '');
}

export interface TableRow {
  readonly title: string;
  readonly unit: string;
  readonly figures: readonly Figure[];
}

export function asMarkdown(rows: readonly TableRow[], about: string): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((one) => one.replaceAll('|', '\\|')).join(' | ')} |`;
  const names = SUBJECTS.map(({ name }) => name);
  return [
    about,
    '',
    line(['workload', ...names]),
    line(['---', ...names.map(() => '---')]),
    ...rows.map(({ title, unit, figures }) => line([title, ...figures.map((figure) => cell(figure, unit))])),
    '',
  ].join('\n');
}
