export interface ImportKeyRow {
  readonly importKey: string;
}

/** What has been imported into an account before. Parameter: account id. */
export const importKeysOfAccount = `
  SELECT importKey FROM entries WHERE accountId = ? AND importKey IS NOT NULL`;

export interface KnownEntryRow {
  readonly id: string;
  readonly date: string;
  readonly payee: string;
  readonly amountMinor: number;
  readonly importKey: string | null;
}

/**
 * The entries of an account in some days, to find those that a file brings once more. Parameters: account id, first
 * day, last day.
 */
export const entriesOfDays = `
  SELECT id, date, payee, amountMinor, importKey FROM entries WHERE accountId = ? AND date BETWEEN ? AND ?`;

export interface ImportProfileRow {
  readonly columns: string;
  readonly delimiter: string;
  readonly dateOrder: string;
  readonly decimalMark: string;
  readonly turnSigns: 0 | 1;
}

/** How the last statement of an account was read. Parameter: account id. */
export const importProfileOfAccount = `
  SELECT columns, delimiter, dateOrder, decimalMark, turnSigns FROM importProfiles WHERE id = ?`;
