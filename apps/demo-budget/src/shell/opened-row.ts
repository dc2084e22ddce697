/** A row of a list as it was when its form was opened, in the list. */
export interface OpenedRow<Row> {
  readonly row: Row;
  readonly index: number;
}

/** The rows with the opened one in its place, so that its form keeps what was typed if the row is deleted meanwhile. */
export function withOpenedRow<Row extends { readonly id: string }>(
  rows: readonly Row[],
  opened: OpenedRow<Row> | null,
): readonly Row[] {
  return opened === null || isListed(rows, opened) ? rows : rows.toSpliced(opened.index, 0, opened.row);
}

export function isListed<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { row: { id } }: OpenedRow<Row>,
): boolean {
  return rows.some((row) => row.id === id);
}
