import type { Client } from '@rockpool/client';
import type { Writer } from '../writer.ts';
import { isOfBothSides, type Conflict } from './conflicts.ts';

/** Writes the lost value as an ordinary change: it is newer than the winning one, and syncs. */
export async function restoreLost(
  writer: Pick<Writer, 'execute'> & Pick<Client, 'conflicts'>,
  { first }: Conflict,
): Promise<void> {
  const { id, columnName, rowKey, lostValue, transferId } = first;
  if (!isOfBothSides(first) || lostValue instanceof Uint8Array) return await writer.conflicts.restore(id);
  const [entryId] = JSON.parse(rowKey) as [string];
  if (columnName === 'amountMinor')
    await writer.execute('UPDATE entries SET amountMinor = CASE id WHEN ? THEN ? ELSE -? END WHERE transferId = ?', [
      entryId,
      lostValue,
      lostValue,
      transferId,
    ]);
  else
    await writer.execute(`UPDATE entries SET ${columnName === 'date' ? 'date' : 'notes'} = ? WHERE transferId = ?`, [
      lostValue,
      transferId,
    ]);
}

/** Dismisses a conflict for everyone. The conflict log keeps it. */
export async function dismissConflict(writer: Writer, { losses }: Conflict, nowMs: number): Promise<void> {
  await writer.batch(
    losses.map(({ id }) => ({
      sql: 'INSERT INTO dismissedConflicts (id, dismissedAtMs) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
      params: [id, nowMs],
    })),
  );
}
