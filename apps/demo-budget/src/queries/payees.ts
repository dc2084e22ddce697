export interface LearnedRow {
  readonly categoryId: string;
}

/** The category that a payee had last. Parameter: payee. */
export const learnedCategory = `
  SELECT categoryId FROM entries WHERE payee = ? AND categoryId IS NOT NULL ORDER BY date DESC, enteredAtMs DESC LIMIT 1`;

export interface PayeeUseRow {
  readonly payee: string;
  readonly entryCount: number;
  /** Of its newest entry with one; NULL where none has. */
  readonly categoryId: string | null;
}

/**
 * Payees as they are used, by name, with the category that each had last. Parameter: a part of the name, empty for all.
 */
export const payeesInUse = `
  SELECT payee, count(*) AS entryCount,
         (SELECT latest.categoryId FROM entries AS latest WHERE latest.payee = entries.payee AND latest.categoryId IS NOT NULL ORDER BY latest.date DESC, latest.enteredAtMs DESC LIMIT 1) AS categoryId
  FROM entries WHERE payee <> '' AND instr(lower(payee), lower(?)) > 0
  GROUP BY payee ORDER BY payee COLLATE NOCASE LIMIT 100`;

export interface PayeeRow {
  readonly payee: string;
}

/** Payees to choose from while typing, the most used first. No parameters. */
export const frequentPayees = `
  SELECT payee FROM entries WHERE payee <> '' GROUP BY payee ORDER BY count(*) DESC, payee LIMIT 200`;

export interface UncategorisedRow {
  readonly entryCount: number;
}

/** How many entries of a payee have no category. Parameter: payee. */
export const uncategorisedOfPayee = `
  SELECT count(*) AS entryCount FROM entries
  WHERE payee = ? AND categoryId IS NULL AND transferId IS NULL AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id)`;
