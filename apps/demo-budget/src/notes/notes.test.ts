import { expect, it } from 'vitest';
import { notesBegun } from '../queries/notes.ts';
import { memoryWriter } from '../testing/memory-writer.ts';
import { beginNotes } from './actions.ts';

it('notes begin once, and empty', async () => {
  const writer = memoryWriter();
  expect(writer.rows(notesBegun)).toEqual([{ begun: 0 }]);
  await beginNotes(writer);
  await writer.execute(`UPDATE notes SET content = '{"body":"rent"}'`);
  await beginNotes(writer);
  expect(writer.rows('SELECT id, content FROM notes')).toEqual([{ id: 'budget', content: '{"body":"rent"}' }]);
  expect(writer.rows(notesBegun)).toEqual([{ begun: 1 }]);
});
