export interface ImportKeyRow {
  readonly importKey: string;
}

/** The import keys of an account's entries. Parameter: account id. */
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
 * The entries of an account in a range of days, to find possible duplicates of a file's rows. Parameters: account id,
 * first day, last day.
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

/** How the account's last statement was read. Parameter: account id. */
export const importProfileOfAccount = `
  SELECT columns, delimiter, dateOrder, decimalMark, turnSigns FROM importProfiles WHERE id = ?`;
