export { openStorage } from './open-storage.ts';
export type { Durability, OpenStorageOptions, Role, Storage } from './storage.ts';
export { deleteStorage, listNamesInUse, listStorages, storageSizes } from './files/storage-files.ts';
export { exportFile } from './files/export-file.ts';
export { importFile } from './files/import-file.ts';
export type { ImportOptions } from './files/import-file.ts';
export { discardStaged, stageFile } from './files/stage-file.ts';
export type { StagedFile, StageOptions } from './files/stage-file.ts';
export type { ImportSource } from './files/checked-chunks.ts';
export { quarantineStorage } from './files/quarantine-storage.ts';
export { assertRoomForVacuum } from './files/room.ts';
export { isStorageName } from './storage-name.ts';
export { StorageError } from './storage-error.ts';
export type { StorageErrorCode, StorageErrorFields } from './storage-error.ts';
export { memoryMedium } from './media/memory.ts';
export { opfsExclusiveMedium } from './media/opfs-exclusive.ts';
export type { OpfsExclusiveOptions } from './media/opfs-exclusive.ts';
export { opfsSharedMedium } from './media/opfs-shared.ts';
export type {
  FileMedium,
  Medium,
  OpenStoreOptions,
  Persistence,
  StorageFile,
  StorageSizes,
  StoreMedium,
} from './media/medium.ts';
export type { LockMode, StorageLocks } from './locks/storage-locks.ts';
export type { StorageSignals } from './locks/storage-signals.ts';
export { resultCodeOf } from './sqlite/result-code.ts';
export type { SqliteModule } from './sqlite/sqlite-module.ts';
export type { Tuning } from './tuning.ts';
