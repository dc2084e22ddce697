export interface DeletedEntryRow {
  readonly id: string;
  readonly accountName: string;
  readonly currency: string;
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly amountMinor: number;
  readonly transferId: string | null;
  readonly deletedAtMs: number;
}

/**
 * The most recently deleted entries, except those that exist again. Parameters: a
 * pattern for the payee and memo, row limit.
 */
export const latestDeletedEntries = `
  SELECT deleted.id, account.name AS accountName, account.currency, deleted.date, deleted.payee, deleted.notes, deleted.amountMinor, deleted.transferId, deleted.deletedAtMs
  FROM deletedEntries AS deleted JOIN accounts AS account ON account.id = deleted.accountId
  WHERE NOT EXISTS (SELECT 1 FROM entries WHERE id = deleted.id) AND deleted.payee || ' ' || deleted.notes GLOB ?
  ORDER BY deleted.deletedAtMs DESC, deleted.date DESC, deleted.id LIMIT ?`;

/** The ids of both sides of a deleted transfer. Parameter: its transfer id. */
export const deletedSides = `
  SELECT id FROM deletedEntries WHERE transferId = ?`;
