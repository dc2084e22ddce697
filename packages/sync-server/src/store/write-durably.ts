import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file that survives a power loss, and replaces an existing one as a whole. Creates its folder. */
export function writeDurably(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(`${path}.new`, 'w');
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${path}.new`, path);
  syncPath(dirname(path));
}

/** Waits until a file, or the names in a folder, are durable. */
export function syncPath(path: string): void {
  const isFolder = statSync(path).isDirectory();
  // Windows has no call that syncs a folder, because its file systems make names durable themselves. It syncs a file
  // only if the file was opened for writing.
  if (isFolder && process.platform === 'win32') return;
  const descriptor = openSync(path, process.platform === 'win32' ? 'r+' : 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
