import type { AccountRow } from '../queries/accounts.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import { addTransfer, changeTransfer, makeTransfer } from '../transfers/actions.ts';
import { sideWithCategory } from '../transfers/side-with-category.ts';
import type { Writer } from '../writer.ts';
import { addEntry, changeEntry } from './actions.ts';
import type { FormResult } from './entry-form.tsx';

/** Writes what the form for a new entry was sent with. */
export async function saveNew(writer: Writer, account: AccountRow, result: FormResult): Promise<void> {
  if (result.kind === 'entry') await addEntry(writer, account.id, result.fields, result.parts);
  else await addTransfer(writer, account.id, result.otherAccount.id, result.fields, sideWithCategory(account.kind, result.otherAccount.kind) === 'other' ? 'other' : 'this');
}

/** Writes what differs from the entry as it was when its form was opened. */
export async function saveChanged(writer: Writer, account: AccountRow, { entry, parts }: { readonly entry: LedgerRow; readonly parts: readonly PartRow[] }, result: FormResult): Promise<void> {
  if (result.kind === 'entry') await changeEntry(writer, entry.id, { fields: entry, parts }, result.fields, result.parts);
  else if (entry.transferId === null) await makeTransfer(writer, entry.id, result.otherAccount.id, result.fields, sideWithCategory(account.kind, result.otherAccount.kind));
  else await changeTransfer(writer, { id: entry.id, transferId: entry.transferId }, { ...entry, otherMinor: entry.otherMinor ?? 0 }, result.fields);
}
