import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { beginNote, budgetNoteId } from './actions.ts';
import { NotesView } from './notes-view.tsx';

// The code that is loaded on demand: it is not there, as after an update of the server.
vi.mock('./editor.ts', () => {
  throw new TypeError('Failed to fetch dynamically imported module');
});

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

it('a note whose editor cannot be loaded says so, instead of saying that it is saved', async () => {
  await beginNote(app.client, budgetNoteId);
  app.show('notes', <NotesView />);
  const textOf = (role: string): string => app.container.querySelector(`[role="${role}"]`)?.textContent ?? '';
  await expect.poll(() => textOf('alert')).toContain('went wrong');
  const foot = app.container.querySelector('.note-foot')?.textContent ?? '';
  expect(foot).toContain('cannot be opened');
  expect(foot).not.toContain('Saved as you type.');
});
