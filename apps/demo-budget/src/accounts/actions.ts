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

/** How an account is listed. */
export interface AccountHeading {
  readonly name: string;
  /** Empty for none. */
  readonly groupName: string;
}

/** Writes what differs from the values that the user saw: another person may have changed the others since. */
export async function renameAccount(
  writer: Writer,
  id: string,
  before: AccountHeading,
  after: AccountHeading,
): Promise<void> {
  const columns = (['name', 'groupName'] as const).filter((column) => before[column] !== after[column]);
  const statements = columns.map((column) => ({
    sql: `UPDATE accounts SET ${column} = ? WHERE id = ?`,
    params: [after[column], id],
  }));
  if (statements.length > 0) await writer.batch(statements);
}

/** A closed account keeps its entries and is listed last. */
export async function setAccountClosed(writer: Writer, id: string, closed: boolean): Promise<void> {
  await writer.execute('UPDATE accounts SET closed = ? WHERE id = ?', [closed ? 1 : 0, id]);
}
