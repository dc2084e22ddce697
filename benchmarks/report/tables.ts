import type { ResultRow } from './samples.ts';
import { labelOf, type Verdict } from './target.ts';

/** The figures of Rockpool and of the target's peer, line by line. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const lines = verdicts
    .filter(({ ratio }) => ratio !== undefined)
    .map(({ target, ours, peer, ratio, isReached }) => [
      `${target.workload}${target.variant === '' ? '' : ` ${target.variant}`}`,
      target.title,
      figure(ours as ResultRow),
      peer === undefined ? '–' : `${labelOf(peer)}: ${figure(peer)}`,
      target.of === 'absolute' ? '–' : (ratio as number).toFixed(2),
      target.of === 'absolute'
        ? `${target.isAtLeast === true ? '≥' : '≤'} ${target.atMost} ${ours?.unit}`
        : `≤ ${target.atMost}`,
      isReached ? 'reached' : `**missed**${target.account === undefined ? '' : `: ${target.account}`}`,
    ]);
  return markdown(['', 'workload', 'Rockpool', 'against', 'ratio', 'target', ''], lines);
}

/**
 * Medians of every subject; a table for each prefix of the workloads, which stands for a different browser, medium or
 * size.
 */
export function figureTables(rows: readonly ResultRow[]): string {
  const prefixes = [...new Set(rows.map(prefixOf))];
  return prefixes.map((prefix) => figureTable(rows.filter((row) => prefixOf(row) === prefix))).join('\n\n');
}

function prefixOf({ workload }: ResultRow): string {
  return /^(L[IFW]|C|\d+K)-/.exec(workload)?.[1] ?? '';
}

/** The document with the tables of a group in their place. Throws if it has no section for them. */
export function withTables(document: string, group: string, tables: string): string {
  const [before, rest] = document.split(`<!-- begin ${group} -->`);
  const after = rest?.split(`<!-- end ${group} -->`)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/benchmarks.md has no section for the tables of ${group}`);
  return `${before}<!-- begin ${group} -->\n${tables}\n<!-- end ${group} -->${after}`;
}

/** One line per subject, one column per workload. */
function figureTable(rows: readonly ResultRow[]): string {
  const workloads = [...new Map(rows.map(({ workload, unit }) => [workload, unit]))];
  const labels = [...new Set(rows.map(labelOf))];
  const lines = labels.map((label) => [
    label,
    ...workloads.map(([workload]) => {
      const row = rows.find((candidate) => candidate.workload === workload && labelOf(candidate) === label);
      return row === undefined ? '–' : short(row.median);
    }),
  ]);
  return markdown(['', ...workloads.map(([workload, unit]) => `${workload} ${unit}`)], lines);
}

function figure(row: ResultRow): string {
  return `${short(row.median)} ${row.unit} (${short(row.min)}–${short(row.max)})`;
}

function short(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  // No result arrived, so there is no median.
  if (!Number.isFinite(value)) return '–';
  return String(Number(value.toPrecision(value >= 1 ? 3 : 2)));
}

function markdown(head: readonly string[], lines: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
