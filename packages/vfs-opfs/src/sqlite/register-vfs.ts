import { StorageError } from '../storage-error.ts';
import type { SqliteModule } from './sqlite-module.ts';
import { Vfs } from './vfs.ts';

export const VFS_NAME = 'rockpool';

const vfsByModule = new WeakMap<SqliteModule, Vfs>();

/**
 * Returns the module's VFS, which is registered on first use and shared by all storages.
 *
 * wa-sqlite's function table cannot grow, so this package cannot add its own C structures and uses wa-sqlite's relay.
 * Given an object, the relay decodes the name of the method on every call. Given a function, it passes the pointer to
 * that name, which is a constant of the build and so serves as the method's number.
 */
export function vfsOf(module: SqliteModule): Vfs {
  const known = vfsByModule.get(module);
  if (known !== undefined) return known;
  const vfs = new Vfs(module);
  if (module.vfs_register(vfs, false) !== 0)
    throw new StorageError('storage-failed', { operation: 'register', reason: 'vfs_register' });
  module.setCallback(findVfs(module), dispatcher(module, vfs));
  vfsByModule.set(module, vfs);
  return vfs;
}

type Method = (a: number, b: number, c: number, d: number, e: number) => number;

const METHODS = [
  'xOpen',
  'xDelete',
  'xAccess',
  'xFullPathname',
  'xClose',
  'xRead',
  'xWrite',
  'xTruncate',
  'xSync',
  'xFileSize',
  'xLock',
  'xUnlock',
  'xCheckReservedLock',
  'xFileControl',
  'xSectorSize',
  'xDeviceCharacteristics',
] as const;

function dispatcher(
  module: SqliteModule,
  vfs: Vfs,
): (name: number, a: number, b: number, c: number, d: number, e: number) => number {
  const byPointer = new Map<number, Method>();
  const learn = (pointer: number): Method => {
    const name = module.UTF8ToString(pointer);
    const known = METHODS.find((method) => method === name);
    if (known === undefined) throw new Error(`SQLite called ${name}, which the VFS does not implement`);
    const method: Method = vfs[known].bind(vfs);
    byPointer.set(pointer, method);
    return method;
  };
  return (name, a, b, c, d, e) => (byPointer.get(name) ?? learn(name))(a, b, c, d, e);
}

function findVfs(module: SqliteModule): number {
  const sizeBytes = module.lengthBytesUTF8(VFS_NAME) + 1;
  const pointer = module._sqlite3_malloc(sizeBytes);
  module.stringToUTF8(VFS_NAME, pointer, sizeBytes);
  const vfs = module._sqlite3_vfs_find(pointer);
  module._sqlite3_free(pointer);
  return vfs;
}
