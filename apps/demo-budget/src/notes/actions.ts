import type { Client, LiveDocument, RichText } from '@rockpool/client';
import type { Writer } from '../writer.ts';

export interface NoteContent {
  readonly body: RichText;
}

/** The note of the budget as a whole. */
export const budgetNoteId = 'budget';

export function entryNoteId(entryId: string): string {
  return `entry/${entryId}`;
}

/**
 * The stored form of a note with this plain text. An editor shows an empty line at the end of every text; its line end
 * is stored too, so that positions in the stored text and in every editor agree.
 */
export function noteSaying(text: string): NoteContent {
  return { body: [{ insert: `${text}\n` }] };
}

/**
 * Creates a note. If two devices do so at once, they create the same text: equal initial content gives one document.
 */
export async function beginNote(writer: Writer, noteId: string): Promise<void> {
  await writer.execute('INSERT INTO notes (id, content) VALUES (?, ?) ON CONFLICT (id) DO NOTHING', [
    noteId,
    JSON.stringify(noteSaying('')),
  ]);
}

export function openNote(client: Client, noteId: string): Promise<LiveDocument<NoteContent>> {
  return client.document<NoteContent>('notes', [noteId], 'content');
}
