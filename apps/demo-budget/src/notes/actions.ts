import type { Client, LiveDocument, RichText } from '@rockpool/client';
import type { Writer } from '../writer.ts';

export interface NoteContent {
  readonly body: RichText;
}

/** The note that belongs to the budget as a whole. */
export const budgetNoteId = 'budget';

/** The note that belongs to one entry. */
export function entryNoteId(entryId: string): string {
  return `entry/${entryId}`;
}

/**
 * What a note that says this, without formats, is stored as. An editor shows a last line in every text: with its end in
 * the text, all editors count alike.
 */
export function noteSaying(text: string): NoteContent {
  return { body: [{ insert: `${text}\n` }] };
}

/**
 * Begins a note. Two devices that do so at once have begun the same text: what is equal when it is made is one
 * document.
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
