export type MergeRule = 'lww' | 'one-insert-wins' | 'delete-wins' | 'cascade' | 'update-wins';

export interface ConflictRow {
  readonly id: string;
  /** Equal for all conflicts of one server decision. */
  readonly watermark: number;
  readonly tableName: string;
  /** A JSON array of the parts of the row's key. */
  readonly rowKey: string;
  /** NULL: the whole row. */
  readonly columnName: string | null;
  readonly rule: MergeRule;
  readonly lostValue: ConflictValue;
  readonly wonValue: ConflictValue;
  readonly lostBy: string;
  readonly wonBy: string;
  readonly lostAtMs: number;
  readonly wonAtMs: number;
  /** The row's current label; NULL if the row was deleted. */
  readonly rowName: string | null;
  readonly rowDate: string | null;
  /** The currency of its amounts. */
  readonly currency: string | null;
  /** For one side of a transfer: its transfer id, and the amount of the other side; otherwise NULL. */
  readonly transferId: string | null;
  readonly otherMinor: number | null;
  /** 1: a user has dismissed it. */
  readonly dismissed: 0 | 1;
  /** The current row as a JSON object by column; NULL if the row was deleted. */
  readonly currentRow: string | null;
}

export type ConflictValue = string | number | bigint | Uint8Array | null;

/**
 * The latest writes that lost against a concurrent one, from Rockpool's conflict log. No parameters. Omits creation
 * times: two devices that import one statement differ only in these, so there is nothing to decide. For a transfer,
 * both sides lose together, so only one is listed.
 */
export const latestConflicts = `
  WITH conflict AS (
    SELECT *, json_extract(row_key, '$[0]') AS rowId FROM rockpool_conflict
    WHERE table_name NOT IN ('dismissedConflicts', 'deletedEntries') AND (column_name IS NULL OR column_name NOT IN ('enteredAtMs', 'createdAtMs', 'assignedAtMs', 'importKey', 'dismissedAtMs', 'deletedAtMs'))
    ORDER BY id DESC LIMIT 200
  )
  SELECT conflict.id, conflict.watermark, conflict.table_name AS tableName, conflict.row_key AS rowKey, conflict.column_name AS columnName, conflict.rule,
         conflict.lost_value AS lostValue, conflict.won_value AS wonValue, conflict.lost_by AS lostBy, conflict.won_by AS wonBy,
         conflict.lost_at_ms AS lostAtMs, conflict.won_at_ms AS wonAtMs,
         CASE conflict.table_name
           WHEN 'goals' THEN 'Goal for ' || category.name
           WHEN 'assignments' THEN 'Money for ' || category.name
           WHEN 'importProfiles' THEN 'Statements of ' || account.name
           WHEN 'schedules' THEN CASE WHEN schedule.otherAccountId IS NULL THEN 'Scheduled: ' || schedule.payee ELSE 'Scheduled transfer' END
           WHEN 'rules' THEN CASE WHEN rule.field IN ('payee', 'notes') THEN 'Rule “' || rule.value || '”' ELSE 'Rule' END
           WHEN 'notes' THEN CASE WHEN note.id = 'budget' THEN 'Notes of the budget' WHEN note.id IS NOT NULL THEN 'Note on ' || coalesce(nullif(entry.payee, ''), 'an entry') END
           ELSE coalesce('Transfer with ' || other.name, entry.payee, category.name, account.name)
         END AS rowName,
         entry.date AS rowDate, coalesce(goal.currency, assignment.currency, account.currency) AS currency, entry.transferId, twin.amountMinor AS otherMinor,
         EXISTS (SELECT 1 FROM dismissedConflicts WHERE id = conflict.id) AS dismissed,
         CASE conflict.table_name
           WHEN 'entries' THEN json_object('date', entry.date, 'payee', entry.payee, 'notes', entry.notes, 'categoryId', entry.categoryId, 'amountMinor', entry.amountMinor, 'status', entry.status)
           WHEN 'parts' THEN json_object('categoryId', part.categoryId, 'amountMinor', part.amountMinor, 'notes', part.notes)
           WHEN 'accounts' THEN json_object('name', account.name, 'kind', account.kind, 'closed', account.closed)
           WHEN 'categories' THEN json_object('name', category.name, 'hidden', category.hidden, 'keepsOverspent', category.keepsOverspent)
           WHEN 'goals' THEN json_object('kind', goal.kind, 'amountMinor', goal.amountMinor, 'byMonth', goal.byMonth)
           WHEN 'assignments' THEN json_object('amountMinor', assignment.amountMinor)
           WHEN 'rules' THEN json_object('field', rule.field, 'test', rule.test, 'value', rule.value, 'moreConditions', rule.moreConditions, 'needs', rule.needs,
                                          'categoryId', rule.categoryId, 'payee', rule.payee, 'notes', rule.notes)
           WHEN 'schedules' THEN json_object('accountId', schedule.accountId, 'otherAccountId', schedule.otherAccountId, 'payee', schedule.payee, 'notes', schedule.notes, 'categoryId', schedule.categoryId, 'amountMinor', schedule.amountMinor,
                                             'firstDate', schedule.firstDate, 'every', schedule.every, 'unit', schedule.unit, 'lastDate', schedule.lastDate)
           WHEN 'notes' THEN json_object('content', note.content)
           WHEN 'importProfiles' THEN json_object('columns', profile.columns, 'delimiter', profile.delimiter, 'dateOrder', profile.dateOrder, 'decimalMark', profile.decimalMark, 'turnSigns', profile.turnSigns)
         END AS currentRow
  FROM conflict
    LEFT JOIN parts AS part ON conflict.table_name = 'parts' AND part.id = conflict.rowId
    LEFT JOIN notes AS note ON conflict.table_name = 'notes' AND note.id = conflict.rowId
    LEFT JOIN entries AS entry ON entry.id = CASE conflict.table_name WHEN 'entries' THEN conflict.rowId WHEN 'parts' THEN part.entryId WHEN 'notes' THEN substr(conflict.rowId, length('entry/') + 1) END
    LEFT JOIN entries AS twin ON twin.transferId = entry.transferId AND twin.id <> entry.id
    LEFT JOIN accounts AS other ON other.id = twin.accountId
    LEFT JOIN goals AS goal ON conflict.table_name = 'goals' AND goal.id = conflict.rowId
    LEFT JOIN assignments AS assignment ON conflict.table_name = 'assignments' AND assignment.id = conflict.rowId
    LEFT JOIN rules AS rule ON conflict.table_name = 'rules' AND rule.id = conflict.rowId
    LEFT JOIN schedules AS schedule ON conflict.table_name = 'schedules' AND schedule.id = conflict.rowId
    LEFT JOIN importProfiles AS profile ON conflict.table_name = 'importProfiles' AND profile.id = conflict.rowId
    LEFT JOIN accounts AS account ON account.id = CASE conflict.table_name WHEN 'accounts' THEN conflict.rowId ELSE coalesce(entry.accountId, schedule.accountId, profile.id) END
    LEFT JOIN categories AS category ON category.id = CASE conflict.table_name WHEN 'categories' THEN conflict.rowId ELSE coalesce(goal.categoryId, assignment.categoryId) END
  WHERE twin.id IS NULL OR entry.id < twin.id OR conflict.column_name NOT IN ('date', 'notes', 'amountMinor')
  ORDER BY conflict.id DESC`;
