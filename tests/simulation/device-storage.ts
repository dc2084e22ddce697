import type { Medium } from '#vfs-opfs/index.ts';
import { storageFileNames } from '#vfs-opfs/storage-name.ts';
import { SimulatedDisk, SimulatedExtents } from '#vfs-opfs/testing/index.ts';
import type { Random } from './random.ts';

/** Where the browser of a device keeps its database. */
export type MediumKind = 'opfs' | 'opfs-exclusive' | 'indexeddb';

/** One worker's view of the storage. */
export type WorkerMedium = Medium & {
  /** Ends the worker. */
  kill(): void;
  /** A frozen worker receives no signals. */
  freeze(isFrozen: boolean): void;
};

/** What a device does when a call changes its storage. */
export interface StorageEvents {
  /** A call is about to begin. Returns whether the storage lacks space for it. */
  readonly onCall: (sizeBytes: number) => boolean;
  /** Called before a change, and again in the middle of a write to a file. May throw, to leave the call undone. */
  readonly onChange: () => void;
}

/** The storage of one browser profile, shared by the workers of its tabs. */
export interface DeviceStorage {
  readonly kind: MediumKind;
  /** Whether other tabs may read the files. If not, they read through the leader. */
  readonly isShared: boolean;
  /** The storage as seen by a new worker. */
  medium(): WorkerMedium;
  /** Whether there are commits that the medium does not have yet. */
  readonly isBehind: boolean;
  /** The current content, in a separate storage. */
  copy(events: StorageEvents | null): DeviceStorage;
  /** Cuts the power, after all workers have died. Returns the number of calls that are lost. */
  losePower(): number;
  setFreeBytes(freeBytes: number | undefined): void;
}

const NO_EVENTS: StorageEvents = { onCall: () => false, onChange: () => undefined };

/** In Chromium, a terminated worker that is busy keeps its handles for about two seconds. */
const LONGEST_HELD_MS = 2_000;

/** How long IndexedDB takes to store a transaction. */
const PENDING_MS = [0, 1, 1, 4, 20] as const;

/** `events` is null for a storage on which no fault is caused. */
export function createDeviceStorage(kind: MediumKind, random: Random, events: StorageEvents | null): DeviceStorage {
  return kind === 'indexeddb' ? storageOfExtents(random, events ?? NO_EVENTS) : storageOfFiles(kind, random, events);
}

function storageOfFiles(
  kind: 'opfs' | 'opfs-exclusive',
  random: Random,
  events: StorageEvents | null,
  files?: ReadonlyMap<string, Uint8Array>,
): DeviceStorage {
  const disk = new SimulatedDisk({ canLosePower: true, ...(files === undefined ? {} : { files }) });
  const isExclusive = kind === 'opfs-exclusive';
  if (events !== null) {
    disk.fault = (call) => (events.onCall(call.sizeBytes) && call.kind === 'write' ? 'quota' : undefined);
    disk.observer = events.onChange;
  }
  return {
    kind,
    isShared: !isExclusive,
    isBehind: false,
    medium() {
      const medium = disk.medium({ isExclusive });
      const kill = (): void => medium.kill(isExclusive ? { keepsHandlesMs: random.below(LONGEST_HELD_MS) } : {});
      return { ...medium, kill };
    },
    copy: (ofCopy) => storageOfFiles(kind, random, ofCopy, contentOf(disk)),
    losePower: () => disk.losePower(() => random.next()),
    setFreeBytes(freeBytes) {
      disk.freeBytes = freeBytes;
    },
  };
}

/** The files of the database, without staged ones. */
function contentOf(disk: SimulatedDisk): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const name of storageFileNames('household')) {
    const file = disk.file(name);
    if (file === undefined) continue;
    const bytes = new Uint8Array(file.sizeBytes);
    file.read(bytes, 0);
    files.set(name, bytes);
  }
  return files;
}

function storageOfExtents(random: Random, events: StorageEvents, original?: SimulatedExtents): DeviceStorage {
  const extents = new SimulatedExtents({
    persistence: 'indexeddb',
    pendingMs: () => (events === NO_EVENTS ? 0 : random.pick(PENDING_MS)),
    outlivesWorker: () => random.chance(0.5),
    canLosePower: true,
    ...(original === undefined ? {} : { copyOf: original }),
  });
  extents.outcome = () => {
    const isFull = events.onCall(0);
    // A worker that dies here has handed the batch to the browser.
    try {
      events.onChange();
    } catch {
      return 'completes';
    }
    return isFull ? 'aborts' : 'completes';
  };
  return {
    kind: 'indexeddb',
    isShared: false,
    get isBehind() {
      return extents.hasPending;
    },
    medium: () => ({ ...extents.medium(), freeze: () => undefined }),
    copy: (ofCopy) => storageOfExtents(random, ofCopy ?? NO_EVENTS, extents),
    losePower: () => extents.losePower(() => random.next()),
    setFreeBytes(freeBytes) {
      extents.freeBytes = freeBytes;
    },
  };
}
