import type { Client, LiveDocument } from '@rockpool/client';
import type { Writer } from '../writer.ts';

export interface NoteContent {
  readonly body: string;
}

/** The note that belongs to the budget as a whole. */
export const budgetNoteId = 'budget';

/** The note that belongs to one entry. */
export function entryNoteId(entryId: string): string {
  return `entry/${entryId}`;
}

/** What a note that says this is stored as. */
export function noteSaying(body: string): NoteContent {
  return { body };
}

/** Begins a note. Two devices that do so at once have begun the same text: what is equal when it is made is one document. */
export async function beginNote(writer: Writer, noteId: string): Promise<void> {
  await writer.execute('INSERT INTO notes (id, content) VALUES (?, ?) ON CONFLICT (id) DO NOTHING', [noteId, JSON.stringify(noteSaying(''))]);
}

export function openNote(client: Client, noteId: string): Promise<LiveDocument<NoteContent>> {
  return client.document<NoteContent>('notes', [noteId], 'content');
}
