/** A row of a list as it was when its form was opened, in the list. */
export interface OpenedRow<Row> {
  readonly row: Row;
  readonly index: number;
}

/** The rows with the opened ones in their places, so that a form keeps what was typed if its row is deleted meanwhile. */
export function withOpenedRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  opened: readonly OpenedRow<Row>[],
): readonly Row[] {
  return opened
    .filter((one) => !isListed(rows, one))
    .toSorted((a, b) => a.index - b.index)
    .reduce((listed, { row, index }) => listed.toSpliced(index, 0, row), rows);
}

export function isListed<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { row: { id } }: OpenedRow<Row>,
): boolean {
  return rows.some((row) => row.id === id);
}

/** The id of the button that opens the form of a row. */
export function editButtonId(rowId: string): string {
  return `edit-${rowId}`;
}
