import Papa from 'papaparse';
import { looksLikeEntry } from './cell-shape.ts';
import type { Delimiter } from './problem.ts';

export const delimiters: readonly Delimiter[] = [';', ',', '\t'];

/** Enough to see past a bank's preamble, and short enough to parse three times without a noticeable delay. */
const sampleRows = 120;

/**
 * The delimiter that splits the file most clearly into columns, or undefined if none does. Decimal commas mislead a
 * plain count ("01.02.2025;Rent;-900,00" has one comma in each line), so rows with a date and an amount in separate
 * cells weigh most.
 */
export function recogniseDelimiter(text: string): Delimiter | undefined {
  let best: Delimiter | undefined;
  let bestScore = 0;
  for (const delimiter of delimiters) {
    const score = delimiterScore(text, delimiter);
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}

/**
 * 0 if the delimiter gives a single column; higher for more rows that have the same number of columns and look like
 * entries.
 */
export function delimiterScore(text: string, delimiter: Delimiter): number {
  const parsed = Papa.parse<string[]>(text, { delimiter, preview: sampleRows, skipEmptyLines: 'greedy' });
  const rows = parsed.data;
  const rowCountByWidth = new Map<number, number>();
  for (const row of rows) rowCountByWidth.set(row.length, (rowCountByWidth.get(row.length) ?? 0) + 1);
  let score = 0;
  for (const [width, rowCount] of rowCountByWidth) {
    if (width > 1) score = Math.max(score, (rowCount / rows.length) * Math.log2(width));
  }
  const entryShare = rows.filter(looksLikeEntry).length / Math.max(rows.length, 1);
  return score * (0.1 + entryShare);
}
