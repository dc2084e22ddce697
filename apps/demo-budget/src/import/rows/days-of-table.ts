import type { Table } from '../file/table.ts';
import { parseDate, type DateOrder } from './dates.ts';
import { likenessDays } from './likeness.ts';

/**
 * Returns the first and the last date of a table, moved apart by the distance within which entries count as similar.
 * Empty strings if no date can be read.
 */
export function daysAround(
  table: Table,
  dateColumn: number | null,
  order: DateOrder,
): { readonly first: string; readonly last: string } {
  let first = '';
  let last = '';
  for (const { cells } of table.rows) {
    const date = parseDate(cells[dateColumn ?? -1] ?? '', order);
    if (!date.ok) continue;
    if (first === '' || date.value < first) first = date.value;
    if (date.value > last) last = date.value;
  }
  return first === '' ? { first, last } : { first: dayAfter(first, -likenessDays), last: dayAfter(last, likenessDays) };
}

function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}
