import type { ErrorData, RejectedChangeset } from '@rockpool/client';
import type { ChangedRow } from '../words/row-differences.ts';

/** Why a change is not in the budget, or why a retry failed. */
export function rejectionSentence({ code, message }: Pick<ErrorData, 'code' | 'message'>): string {
  switch (code) {
    case 'constraint-foreign-key':
      return 'It belongs to an item that is not in the budget: that item was deleted, or is in this list too.';
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
    case 'changeset-withdrawn':
      return 'You took it back before it synced.';
    case 'storage-corrupt':
      return 'The budget’s file on this device was damaged before this change was sent. Trying again does not count it twice.';
    default:
      return message;
  }
}

/** The rows of a rejected transaction, in the form that `row-differences.ts` puts into words. */
export function changedRows({ changes }: Pick<RejectedChangeset, 'changes'>): ChangedRow[] {
  return changes.map(({ values, ...row }) => ({
    ...row,
    changes: values.map(({ column, before = null, after = null, change }) => ({
      column,
      before,
      after,
      // A new note is a document too.
      isEdit: change !== undefined || column === 'content',
    })),
  }));
}
