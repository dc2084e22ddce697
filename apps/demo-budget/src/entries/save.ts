import type { AccountRow } from '../queries/accounts.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import { suggestFor } from '../rules/suggest.ts';
import { addTransfer, changeTransfer, makeTransfer } from '../transfers/actions.ts';
import { sideWithCategory } from '../transfers/side-with-category.ts';
import type { Writer } from '../writer.ts';
import { addEntry, changeEntry, type EntryFields } from './actions.ts';
import type { FormResult } from './entry-form.tsx';

/**
 * Writes a new entry from its submitted form. If the category was left open, applies the rules to the complete entry:
 * the form applies them when a field loses focus, and submitting with Enter skips that.
 */
export async function saveNew(
  writer: Writer,
  account: Pick<AccountRow, 'id' | 'kind'>,
  result: FormResult,
): Promise<void> {
  if (result.kind === 'entry')
    await addEntry(
      writer,
      account.id,
      result.categoryIsOpen ? await ruled(writer, account.id, result.fields) : result.fields,
      result.parts,
    );
  else
    await addTransfer(
      writer,
      account.id,
      result.otherAccount.id,
      result.fields,
      sideWithCategory(account.kind, result.otherAccount.kind) === 'other' ? 'other' : 'this',
    );
}

/** Writes the differences from the entry as it was when its form was opened. */
export async function saveChanged(
  writer: Writer,
  account: AccountRow,
  { entry, parts }: { readonly entry: LedgerRow; readonly parts: readonly PartRow[] },
  result: FormResult,
): Promise<void> {
  if (result.kind === 'entry')
    await changeEntry(writer, entry.id, { fields: entry, parts }, result.fields, result.parts);
  else if (entry.transferId === null)
    await makeTransfer(
      writer,
      entry.id,
      result.otherAccount.id,
      result.fields,
      sideWithCategory(account.kind, result.otherAccount.kind),
    );
  else
    await changeTransfer(
      writer,
      { id: entry.id, transferId: entry.transferId },
      { ...entry, otherMinor: entry.otherMinor ?? 0 },
      result.fields,
    );
}

/** Applies the suggestion; a category that the form already has stays. */
async function ruled(writer: Writer, accountId: string, fields: EntryFields): Promise<EntryFields> {
  const { payee, notes, categoryId } = await suggestFor(writer, { ...fields, accountId });
  return { ...fields, payee, notes, categoryId: fields.categoryId ?? categoryId };
}
