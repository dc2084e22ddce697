import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of a thread's snapshots. No other thread uses it, because each removes the files of its earlier runs. */
export function snapshotFolder(thread: number): string {
  return join('snapshots', `thread-${thread}`);
}

/** The folder of a thread's working copies, with PostgreSQL. */
export function copiesFolder(thread: number): string {
  return join('working-copies', `thread-${thread}`);
}

/** Removes the snapshots of an earlier run, which may have had more threads. */
export function removeThreadFolders(dataDir: string): void {
  const directory = join(dataDir, 'snapshots');
  try {
    for (const name of readdirSync(directory))
      if (/^thread-\d+$/.test(name)) rmSync(join(directory, name), { recursive: true, force: true });
  } catch {
    // The directory does not exist yet.
  }
}
