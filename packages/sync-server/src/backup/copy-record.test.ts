import { dirname, join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { CopiedHistory } from '../../testing/copied-history.ts';
import { mayHaveCopies, noteCopies } from '../store/data-directory.ts';
import type { syncPath } from '../store/write-durably.ts';

const synced = vi.hoisted(() => ({ onSync: (_path: string): void => undefined }));

vi.mock('../store/write-durably.ts', async (importOriginal) => {
  const original = await importOriginal<{ readonly syncPath: typeof syncPath }>();
  return {
    ...original,
    syncPath: (path: string) => {
      original.syncPath(path);
      synced.onSync(path);
    },
  };
});

// Without the record, a deletion after a power cut would not be recorded, and a restore would bring the database back.
let isDurable: boolean;
function watch(databasePath: string): void {
  synced.onSync = (path) => {
    isDurable ||= path === dirname(databasePath) && mayHaveCopies(databasePath);
  };
}
beforeEach(() => {
  isDurable = false;
});

it('the record that a database may have copies is durable before the base of its first copy is stored', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  try {
    watch(history.path);
    let puts = 0;
    history.destination.onPut = () => {
      puts++;
      expect(isDurable).toBe(true);
      return 'store';
    };
    await history.copy();
    expect(puts).toBeGreaterThan(0);
  } finally {
    history.close();
  }
});

it('the record that a restored database has copies is durable', () => {
  const path = join(temporaryFolder(), 'db-a.sqlite');
  watch(path);
  noteCopies(path);
  expect(isDurable).toBe(true);
});
