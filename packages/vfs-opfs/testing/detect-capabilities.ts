/** The capabilities that the media need, in a worker of this browser; a text is the reason for a failure. */
export type Capabilities = Readonly<Record<(typeof CAPABILITIES)[number], boolean | string>>;

const CAPABILITIES = [
  'origin-private file system',
  'sync access handles',
  'readwrite-unsafe access handles',
  'renaming files',
  'Web Locks',
  'BroadcastChannel',
  'IndexedDB',
  'indexedDB.databases()',
  'IndexedDB commit()',
  'quota estimate',
] as const;

/** Tries every capability instead of looking it up by name and version. */
export async function detectCapabilities(): Promise<Capabilities> {
  return {
    ...(await fileCapabilities()),
    'Web Locks': navigator.locks !== undefined,
    BroadcastChannel: typeof BroadcastChannel !== 'undefined',
    IndexedDB: typeof indexedDB !== 'undefined',
    'indexedDB.databases()': typeof indexedDB !== 'undefined' && 'databases' in indexedDB,
    'IndexedDB commit()': typeof IDBTransaction !== 'undefined' && 'commit' in IDBTransaction.prototype,
    'quota estimate': (await navigator.storage?.estimate?.())?.quota !== undefined,
  };
}

type FileCapability =
  | 'origin-private file system'
  | 'sync access handles'
  | 'readwrite-unsafe access handles'
  | 'renaming files';

async function fileCapabilities(): Promise<Pick<Capabilities, FileCapability>> {
  const none = { 'sync access handles': false, 'readwrite-unsafe access handles': false, 'renaming files': false };
  if (navigator.storage?.getDirectory === undefined) return { 'origin-private file system': false, ...none };
  let directory: FileSystemDirectoryHandle;
  try {
    directory = await navigator.storage.getDirectory();
  } catch (cause) {
    return { 'origin-private file system': cause instanceof Error ? cause.name : 'refused', ...none };
  }
  const fileName = `capabilities-${crypto.randomUUID()}`;
  const file = await directory.getFileHandle(fileName, { create: true });
  try {
    return {
      'origin-private file system': true,
      'sync access handles': await canOpen(file),
      'readwrite-unsafe access handles': 'mode' in FileSystemSyncAccessHandle.prototype,
      'renaming files': 'move' in file,
    };
  } finally {
    await directory.removeEntry(fileName);
  }
}

async function canOpen(file: FileSystemFileHandle): Promise<boolean> {
  try {
    (await file.createSyncAccessHandle()).close();
    return true;
  } catch {
    return false;
  }
}
