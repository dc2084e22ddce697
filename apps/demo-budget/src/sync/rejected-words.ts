import type { ErrorData, RejectedChangeset } from '@rockpool/client';
import type { ChangedRow } from '../words/row-differences.ts';

/** Why the server rejected a change, or why a retry was rejected again. */
export function rejectionSentence({ code, message }: Pick<ErrorData, 'code' | 'message'>): string {
  switch (code) {
    case 'constraint-foreign-key':
      return 'It belongs to an item that somebody else deleted.';
    case 'constraint-primary-key':
    case 'constraint-unique':
      return 'Somebody else has added the same item.';
    case 'constraint-check':
    case 'constraint-data-type':
    case 'constraint-not-null':
      return 'The server does not accept one of its values.';
    case 'atomic-conflict':
      return 'Somebody else changed the same items at the same time, so none of it was kept.';
    case 'row-missing':
    case 'document-gone':
    case 'document-place-missing':
      return 'What it changes was deleted.';
    default:
      return message;
  }
}

/** The rows of a rejected transaction, for the words of a difference. */
export function changedRows({ changes }: Pick<RejectedChangeset, 'changes'>): ChangedRow[] {
  return changes.map(({ values, ...row }) => ({
    ...row,
    changes: values.map(({ column, before = null, after = null, change }) => ({
      column,
      before,
      after,
      isEdit: change !== undefined,
    })),
  }));
}
