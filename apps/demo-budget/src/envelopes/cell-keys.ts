/** The part of a key event that matters here. */
export interface CellKey {
  readonly key: string;
  readonly shiftKey: boolean;
}

/** A step in the grid of assigned amounts, in rows and in months. */
export interface CellStep {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The step that a key makes, as in a spreadsheet: Enter and the vertical arrows change the category. The horizontal
 * arrows change the month, unless an amount is being typed; then they move its caret. Undefined for any other key.
 */
export function stepOf({ key, shiftKey }: CellKey, isTyping: boolean): CellStep | undefined {
  if (key === 'Enter') return { rows: shiftKey ? -1 : 1, columns: 0 };
  if (shiftKey) return undefined;
  if (key === 'ArrowDown' || key === 'ArrowUp') return { rows: key === 'ArrowDown' ? 1 : -1, columns: 0 };
  if (isTyping || (key !== 'ArrowLeft' && key !== 'ArrowRight')) return undefined;
  return { rows: 0, columns: key === 'ArrowRight' ? 1 : -1 };
}

/** The field that a key moves to; null if there is none in this direction; undefined if the key does not move. */
export function cellTo(from: HTMLInputElement, event: CellKey, isTyping: boolean): HTMLInputElement | null | undefined {
  const step = stepOf(event, isTyping);
  if (step === undefined) return undefined;
  const column = Number(from.dataset['column']) + step.columns;
  const within = step.rows === 0 ? from.closest('tr') : from.closest('table');
  const fields = [...(within?.querySelectorAll<HTMLInputElement>(`input[data-column="${column}"]`) ?? [])];
  return (step.rows === 0 ? fields[0] : fields[fields.indexOf(from) + step.rows]) ?? null;
}
