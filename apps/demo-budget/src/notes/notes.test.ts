import { expect, it } from 'vitest';
import { noteBegun } from '../queries/notes.ts';
import { memoryWriter } from '../testing/memory-writer.ts';
import { beginNote, budgetNoteId } from './actions.ts';

it('notes begin once, and empty', async () => {
  const writer = memoryWriter();
  expect(writer.rows(noteBegun, [budgetNoteId])).toEqual([{ begun: 0 }]);
  await beginNote(writer, budgetNoteId);
  await writer.execute(`UPDATE notes SET content = '{"body":"rent"}'`);
  await beginNote(writer, budgetNoteId);
  expect(writer.rows('SELECT id, content FROM notes')).toEqual([{ id: 'budget', content: '{"body":"rent"}' }]);
  expect(writer.rows(noteBegun, [budgetNoteId])).toEqual([{ begun: 1 }]);
});
