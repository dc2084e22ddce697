import { webLocks } from '../locks/web-locks.ts';
import { webSignals } from '../locks/web-signals.ts';
import { accessHandleFile } from './access-handle-file.ts';
import type { FileMedium } from './medium.ts';
import { OPEN_TIMEOUT_MS, openHandle } from './open-handle.ts';
import { missingForOpfs, opfsDirectory, opfsFile } from './opfs-directory.ts';

/** The option and property that TypeScript's library does not declare yet. */
type SharedAccessHandle = FileSystemSyncAccessHandle & { readonly mode?: string };
type OpenShared = (options: { mode: 'readwrite-unsafe' }) => Promise<SharedAccessHandle>;

/**
 * The origin-private file system through `readwrite-unsafe` access handles (Chromium 121 and later): one writer and any
 * number of readers, in any tab, on the same files. "Unsafe" means that the browser does not exclude other tabs that
 * open a file; the writer's lock does.
 */
export function opfsSharedMedium(): FileMedium {
  return {
    kind: 'opfs-shared',
    persistence: 'opfs',
    allowsReaders: true,
    locks: webLocks,
    signals: webSignals,
    async missing() {
      const missing = await missingForOpfs();
      // A browser without modes would silently ignore the option and lock out the second tab.
      const hasModes =
        typeof FileSystemSyncAccessHandle !== 'undefined' && 'mode' in FileSystemSyncAccessHandle.prototype;
      return hasModes ? missing : [...missing, 'readwrite-unsafe access handles'];
    },
    async open(fileName, create) {
      const file = await opfsFile(fileName, create);
      if (file === undefined) return undefined;
      const open = file.createSyncAccessHandle.bind(file) as OpenShared;
      return accessHandleFile(await openHandle(() => open({ mode: 'readwrite-unsafe' }), OPEN_TIMEOUT_MS));
    },
    ...opfsDirectory,
  };
}
