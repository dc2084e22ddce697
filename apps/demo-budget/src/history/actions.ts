import type { Client } from '@rockpool/client';
import { deletedSides, type DeletedEntryRow } from '../queries/deleted-entries.ts';
import type { Writer } from '../writer.ts';
import { stateBeforeDelete, type EntryState } from './entry-state.ts';
import { bringBackStatements, restoreStatements, type RestoredField } from './restore-entry.ts';

/** Gives the chosen fields of an entry the values of an older state, in one transaction. */
export async function restoreEntry(
  writer: Writer,
  then: EntryState,
  now: EntryState,
  chosen: ReadonlySet<RestoredField>,
): Promise<void> {
  await writer.batch(restoreStatements(then, now, chosen));
}

/** Restores a deleted entry with its parts, and both sides of a transfer. Needs the server; see stateBeforeDelete. */
export async function bringBack(
  client: Writer & Pick<Client, 'history'>,
  { id, transferId }: Pick<DeletedEntryRow, 'id' | 'transferId'>,
): Promise<void> {
  const sides = transferId === null ? [] : await client.query<{ id: string }>(deletedSides, [transferId]);
  const ids = sides.length === 0 ? [id] : sides.map((side) => side.id);
  const states = await Promise.all(ids.map((entryId) => stateBeforeDelete(client, entryId)));
  await client.batch(bringBackStatements(states));
}
