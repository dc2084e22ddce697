import type { Writer } from '../../writer.ts';
import type { ImportProfile } from './profile.ts';

/** Stores how the account's statement was read, replacing a profile that differs. */
export async function saveProfile(writer: Writer, accountId: string, profile: ImportProfile): Promise<void> {
  await writer.execute(
    `INSERT INTO importProfiles (id, columns, delimiter, dateOrder, decimalMark, turnSigns) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET columns = excluded.columns, delimiter = excluded.delimiter, dateOrder = excluded.dateOrder,
       decimalMark = excluded.decimalMark, turnSigns = excluded.turnSigns
     WHERE (columns, delimiter, dateOrder, decimalMark, turnSigns)
       IS NOT (excluded.columns, excluded.delimiter, excluded.dateOrder, excluded.decimalMark, excluded.turnSigns)`,
    [
      accountId,
      JSON.stringify(profile.columnNames),
      profile.delimiter,
      profile.dateOrder,
      profile.decimalMark,
      profile.turnSigns ? 1 : 0,
    ],
  );
}

/** The next statement is read by its own detected formats. */
export async function forgetProfile(writer: Writer, accountId: string): Promise<void> {
  await writer.execute('DELETE FROM importProfiles WHERE id = ?', [accountId]);
}
