import { newId } from '@rockpool/client';
import type { AccountKind } from '../schema.ts';
import type { Writer } from '../writer.ts';

export interface NewAccount {
  readonly name: string;
  readonly kind: AccountKind;
  readonly currency: string;
  readonly openingMinor: number;
}

/** Resolves to the new account's id. */
export async function addAccount(writer: Writer, account: NewAccount): Promise<string> {
  const id = newId();
  await writer.execute(
    'INSERT INTO accounts (id, name, kind, currency, openingMinor, createdAtMs) VALUES (?, ?, ?, ?, ?, ?)',
    [id, account.name, account.kind, account.currency, account.openingMinor, Date.now()],
  );
  return id;
}

/** Sets the name, and the heading under which the account is listed; empty for none. */
export async function renameAccount(writer: Writer, id: string, name: string, groupName: string): Promise<void> {
  await writer.batch([
    { sql: 'UPDATE accounts SET name = ? WHERE id = ? AND name <> ?', params: [name, id, name] },
    { sql: 'UPDATE accounts SET groupName = ? WHERE id = ? AND groupName <> ?', params: [groupName, id, groupName] },
  ]);
}

/** A closed account keeps its entries and is listed last. */
export async function setAccountClosed(writer: Writer, id: string, closed: boolean): Promise<void> {
  await writer.execute('UPDATE accounts SET closed = ? WHERE id = ?', [closed ? 1 : 0, id]);
}
