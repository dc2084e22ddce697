import type { AccountRow } from '../queries/accounts.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import { splitAmount } from '../rules/rule-split.ts';
import { suggestFor } from '../rules/suggest.ts';
import { addTransfer, changeTransfer, makeTransfer } from '../transfers/actions.ts';
import { sideWithCategory } from '../transfers/side-with-category.ts';
import type { EntryStatus } from '../schema.ts';
import type { PartFields } from '../splits/part-changes.ts';
import type { Writer } from '../writer.ts';
import { addEntry, changeEntry, type EntryFields } from './actions.ts';
import type { FormResult } from './entry-draft.ts';

/**
 * Writes a new entry from its submitted form. If the category is undecided, applies the rules to the complete entry:
 * the form applies them when a field loses focus, and submitting with Enter skips that.
 */
export async function saveNew(
  writer: Writer,
  account: Pick<AccountRow, 'id' | 'kind'>,
  result: FormResult,
): Promise<void> {
  if (result.kind === 'entry') {
    const { fields, parts, status } = await ruled(writer, account.id, result);
    await addEntry(writer, account.id, fields, parts, status);
  } else
    await addTransfer(
      writer,
      account.id,
      result.otherAccount.id,
      result.fields,
      sideWithCategory(account.kind, result.otherAccount.kind) === 'other' ? 'other' : 'this',
    );
}

/** Writes the differences from the entry as it was when its form opened. */
export async function saveChanged(
  writer: Writer,
  account: AccountRow,
  { entry, parts }: { readonly entry: LedgerRow; readonly parts: readonly PartRow[] },
  result: FormResult,
): Promise<void> {
  if (result.kind === 'entry')
    await changeEntry(
      writer,
      entry.id,
      { fields: entry, parts, lacksOtherSide: entry.transferId !== null },
      result.fields,
      result.parts,
    );
  else if (entry.transferId === null || entry.otherAccountId === null)
    await makeTransfer(
      writer,
      entry,
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

interface RuledEntry {
  readonly fields: EntryFields;
  readonly parts: readonly PartFields[];
  readonly status: EntryStatus;
}

/** Applies the rules to a complete form. A category or parts that the form already has are kept. */
async function ruled(
  writer: Writer,
  accountId: string,
  { fields, parts, categoryIsOpen }: Extract<FormResult, { kind: 'entry' }>,
): Promise<RuledEntry> {
  const known = await suggestFor(writer, { ...fields, accountId });
  const status = known.status ?? 'open';
  if (!categoryIsOpen) return { fields, parts, status };
  const split = fields.categoryId !== null ? [] : known.split;
  return {
    fields: {
      ...fields,
      payee: known.payee,
      notes: known.notes,
      categoryId: fields.categoryId ?? known.categoryId,
    },
    parts: splitAmount(fields.amountMinor, split).map((part) => ({ ...part, id: '', notes: '' })),
    status,
  };
}
