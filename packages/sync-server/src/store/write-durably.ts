import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file that survives a power loss, and replaces an existing one as a whole. Creates its folder. */
export function writeDurably(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(`${path}.new`, 'w');
  try {
    if (typeof content === 'string') writeSync(descriptor, content);
    else writeSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${path}.new`, path);
  syncPath(dirname(path));
}

/** Waits until a file, or the names in a folder, are durable. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
