import { parseAmount } from '../../money/parse.ts';
import { dateOrders, parseDate } from '../rows/dates.ts';

/** Whether a cell could be a date in any order. */
export function looksLikeDate(cell: string): boolean {
  return dateOrders.some((order) => parseDate(cell, order).ok);
}

/** Whether a cell could be an amount with either decimal mark, in a currency of any precision. */
export function looksLikeAmount(cell: string): boolean {
  if (!/\d/.test(cell)) return false;
  const point = parseAmount(cell, 'EUR', 'point');
  if (point.ok || point.problem.code !== 'amount-unreadable') return true;
  const comma = parseAmount(cell, 'EUR', 'comma');
  return comma.ok || comma.problem.code !== 'amount-unreadable';
}

/** A data row of the table: one cell is a date and another an amount. */
export function looksLikeEntry(cells: readonly string[]): boolean {
  const dateColumn = cells.findIndex(looksLikeDate);
  return dateColumn !== -1 && cells.some((cell, column) => column !== dateColumn && looksLikeAmount(cell));
}
