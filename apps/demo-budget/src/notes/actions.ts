import type { Client, LiveDocument } from '@rockpool/client';
import type { Writer } from '../writer.ts';

export interface NoteContent {
  readonly body: string;
}

/** Which of the notes there are: all write into one. */
const noteId = 'budget';

/** Begins the notes. Two devices that do so at once have begun the same text: what is equal when it is made is one document. */
export async function beginNotes(writer: Writer): Promise<void> {
  const content: NoteContent = { body: '' };
  await writer.execute('INSERT INTO notes (id, content) VALUES (?, ?) ON CONFLICT (id) DO NOTHING', [noteId, JSON.stringify(content)]);
}

export function openNotes(client: Client): Promise<LiveDocument<NoteContent>> {
  return client.document<NoteContent>('notes', [noteId], 'content');
}
