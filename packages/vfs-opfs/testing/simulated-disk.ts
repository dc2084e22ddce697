import { InProcessLocks } from '../src/locks/in-process-locks.ts';
import type { InProcessOwner } from '../src/locks/in-process-locks.ts';
import { MemoryBytes } from '../src/media/memory.ts';
import type { FileMedium, StorageFile } from '../src/media/medium.ts';
import { OPEN_TIMEOUT_MS, openHandle } from '../src/media/open-handle.ts';
import { NEGATIVE_COUNT } from './disk-call.ts';
import { tear, type Random } from './torn-write.ts';
import type { DiskCall, DiskFault, PlannedCall } from './disk-call.ts';

export interface SimulatedDiskOptions {
  /** Keeps every call, for `crashImages`. Default false, since it keeps every byte ever written. */
  readonly keepCalls?: boolean;
  /** Initial files, flushed. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
  /** Writes and truncations that an earlier worker made afterwards and did not flush. Default none. */
  readonly unflushed?: readonly DiskCall[];
  /** Records unflushed calls, for `losePower`. Default false. */
  readonly canLosePower?: boolean;
}

/** A call that was not flushed, with the bytes to undo it. */
interface Unflushed {
  readonly call: Extract<DiskCall, { kind: 'write' | 'truncate' }>;
  readonly sizeBefore: number;
  /** The bytes that it overwrote or truncated. */
  readonly before: Uint8Array;
  /**
   * Half of a write whose worker died during it. Sectors are written completely or not at all, so a power cut undoes
   * it.
   */
  isHalf?: boolean;
}

export interface SimulatedMediumOptions {
  /**
   * Whether the browser grants a file's handle to only one worker at a time, as on exclusive OPFS. A dead worker keeps
   * its handles for a while. Default false.
   */
  readonly isExclusive?: boolean;
}

/** The life of one worker, as its handles see it. */
interface Life {
  isAlive: boolean;
  /** When the handles of the dead worker are free, on the clock of `performance.now()`. */
  freeAtMs: number;
}

/** One worker on a simulated disk: a medium whose death tests can cause. */
export interface SimulatedMedium extends FileMedium {
  /** Ends the worker: its handles stop working, its locks are freed, and its writes stay with the operating system. */
  kill(options?: {
    /** How long the dead worker keeps exclusive handles, in ms. Default 0. */
    readonly keepsHandlesMs?: number;
  }): void;
  /** While frozen, a worker receives no signals and runs no timers, but keeps its locks. */
  freeze(isFrozen: boolean): void;
}

/**
 * A disk in memory that several workers share, as tabs share an origin's files; each `medium()` is one worker. It can
 * fail on demand, let a worker die, and (with `keepCalls`) provide what every crash could have left of it.
 */
export class SimulatedDisk {
  /** Number of calls, kept or not. */
  callCount = 0;
  readonly calls: DiskCall[] = [];
  /** Called before every write, truncate and flush; returns the fault to inject. */
  fault: ((call: PlannedCall) => DiskFault | undefined) | undefined;
  /** Called before every change, and again in the middle of every write, when other workers see half of its bytes. */
  observer: (() => void) | undefined;

  /** The free space that the disk reports. */
  freeBytes: number | undefined;

  /** The initial content of the disk, as far as it was flushed. */
  readonly initialFiles: ReadonlyMap<string, Uint8Array>;
  /** The rest of the initial content: a power cut may undo it until its file is flushed. */
  readonly initialUnflushed: readonly DiskCall[];
  readonly #files = new Map<string, MemoryBytes>();
  readonly #locks = new InProcessLocks();
  /** The holders of exclusive handles, by file. */
  readonly #holders = new Map<string, Life>();
  readonly #keepsCalls: boolean;
  /** Unflushed calls by file, in order. Null when they are not recorded. */
  readonly #unflushed: Map<string, Unflushed[]> | null;

  constructor(options: SimulatedDiskOptions = {}) {
    this.#keepsCalls = options.keepCalls ?? false;
    this.#unflushed = options.canLosePower === true ? new Map() : null;
    this.initialFiles = options.files ?? new Map();
    this.initialUnflushed = options.unflushed ?? [];
    for (const [name, content] of this.initialFiles) {
      const bytes = new MemoryBytes();
      bytes.write(content, 0);
      this.#files.set(name, bytes);
    }
    for (const call of this.initialUnflushed) {
      const bytes = this.#files.get(call.file);
      if (bytes !== undefined && (call.kind === 'write' || call.kind === 'truncate')) this.#change(call, bytes);
    }
  }

  /** Adds a worker. */
  medium({ isExclusive = false }: SimulatedMediumOptions = {}): SimulatedMedium {
    const owner = this.#locks.owner();
    const life: Life = { isAlive: true, freeAtMs: 0 };
    return {
      kind: 'simulated',
      persistence: 'memory',
      allowsReaders: !isExclusive,
      locks: owner,
      signals: owner,
      missing: async () => [],
      open: async (fileName, create) =>
        isExclusive ? this.#openExclusive(fileName, create, life) : this.#open(fileName, create, life),
      freeBytes: async () => this.freeBytes,
      rename: async (fileName, newName) => this.#rename(fileName, newName),
      remove: async (fileName) => {
        if (this.#files.delete(fileName)) this.#record({ kind: 'remove', file: fileName });
        this.#unflushed?.delete(fileName);
      },
      list: async () => [...this.#files.keys()],
      sizeBytes: async (fileName) => this.#files.get(fileName)?.sizeBytes,
      kill: ({ keepsHandlesMs = 0 } = {}) => {
        life.freeAtMs = performance.now() + keepsHandlesMs;
        kill(owner, life);
      },
      freeze: (isFrozen) => {
        owner.frozen = isFrozen;
      },
    };
  }

  /** Returns a file's content, for inspecting or damaging it. */
  file(fileName: string): MemoryBytes | undefined {
    return this.#files.get(fileName);
  }

  /**
   * Cuts the power, after all workers have died. Any subset of the unflushed calls survives, possibly none, and one of
   * them possibly in part. Returns how many calls are lost, in part or completely. Throws without `canLosePower`.
   */
  losePower(random: Random): number {
    if (this.#unflushed === null) throw new Error('this disk does not record unflushed calls');
    let lost = 0;
    for (const [name, unflushed] of this.#unflushed) {
      const bytes = this.#files.get(name);
      if (bytes === undefined) continue;
      for (const one of unflushed.toReversed()) undo(bytes, one);
      const share = [0, 0.5, 0.9][Math.floor(random() * 3)] ?? 0;
      const kept = unflushed
        .filter(({ isHalf }) => isHalf !== true)
        .map(({ call }) => call)
        .filter(() => random() < share);
      const calls = random() < 0.5 ? tear(kept, random) : kept;
      for (const call of calls) {
        if (call.kind === 'write') bytes.write(call.bytes, call.at);
        else if (call.kind === 'truncate') bytes.truncate(call.sizeBytes);
      }
      lost += unflushed.length - kept.length;
    }
    this.#unflushed.clear();
    return lost;
  }

  /** Changes a file and records how to undo the change. */
  #change(call: Unflushed['call'], bytes: MemoryBytes): void {
    const sizeBefore = bytes.sizeBytes;
    if (this.#unflushed !== null) {
      const from = call.kind === 'write' ? call.at : call.sizeBytes;
      const before = new Uint8Array(
        Math.max(0, Math.min(call.kind === 'write' ? call.bytes.length : Infinity, sizeBefore - from)),
      );
      bytes.read(before, from);
      const unflushed = this.#unflushed.get(call.file) ?? [];
      this.#unflushed.set(call.file, unflushed);
      unflushed.push({
        call: call.kind === 'write' ? { ...call, bytes: call.bytes.slice() } : call,
        sizeBefore,
        before,
      });
    }
    if (call.kind === 'write') bytes.write(call.bytes, call.at);
    else bytes.truncate(call.sizeBytes);
  }

  #record(call: DiskCall): void {
    this.callCount += 1;
    if (this.#keepsCalls) this.calls.push(call);
  }

  #rename(fileName: string, newName: string): void {
    const bytes = this.#files.get(fileName);
    if (bytes === undefined) return;
    this.#files.set(newName, bytes);
    this.#files.delete(fileName);
    const unflushed = this.#unflushed?.get(fileName);
    this.#unflushed?.delete(fileName);
    this.#unflushed?.delete(newName);
    if (unflushed !== undefined)
      this.#unflushed?.set(
        newName,
        unflushed.map((one) => ({ ...one, call: { ...one.call, file: newName } })),
      );
    this.#record({ kind: 'rename', file: fileName, newName });
  }

  #open(fileName: string, create: boolean, life: { readonly isAlive: boolean }): StorageFile | undefined {
    let bytes = this.#files.get(fileName);
    if (bytes === undefined) {
      if (!create) return undefined;
      bytes = new MemoryBytes();
      this.#files.set(fileName, bytes);
      this.#record({ kind: 'create', file: fileName });
    }
    return this.#handle(fileName, bytes, life);
  }

  /** Waits for the handle of another worker as the shipped medium does. */
  async #openExclusive(fileName: string, create: boolean, life: Life): Promise<StorageFile | undefined> {
    const take = async (): Promise<StorageFile | undefined> => {
      const holder = this.#holders.get(fileName);
      if (holder !== undefined && (holder.isAlive || performance.now() < holder.freeAtMs))
        throw new DOMException('another handle is open', 'NoModificationAllowedError');
      const file = this.#open(fileName, create, life);
      if (file === undefined) return undefined;
      this.#holders.set(fileName, life);
      const close = (): void => {
        file.close();
        if (this.#holders.get(fileName) === life) this.#holders.delete(fileName);
      };
      return { ...file, close };
    };
    // Only the type of the handle is the browser's.
    const handle: unknown = await openHandle(
      take as unknown as () => Promise<FileSystemSyncAccessHandle>,
      OPEN_TIMEOUT_MS,
    );
    return handle as StorageFile | undefined;
  }

  #handle(file: string, bytes: MemoryBytes, life: { readonly isAlive: boolean }): StorageFile {
    let isOpen = true;
    const assertUsable = (): void => {
      if (!isOpen || !life.isAlive) throw new DOMException('the handle is closed', 'InvalidStateError');
    };
    const faultOf = (call: PlannedCall): DiskFault | undefined => {
      assertUsable();
      const fault = this.fault?.(call);
      if (fault === 'quota') throw new DOMException('over quota', 'QuotaExceededError');
      if (fault === 'lost') throw new DOMException('the handle was taken away', 'InvalidStateError');
      if (fault === 'unknown') throw new DOMException('the disk fails', 'UnknownError');
      return fault;
    };
    return {
      read: (into, at) => {
        assertUsable();
        return bytes.read(into, at);
      },
      write: (from, at) => {
        const fault = faultOf({ kind: 'write', file, sizeBytes: from.length });
        if (fault === 'negative') return NEGATIVE_COUNT;
        const taken = fault === 'short' ? from.subarray(0, from.length >> 1) : from;
        if (this.#keepsCalls) this.#record({ kind: 'write', file, at, bytes: taken.slice() });
        else this.callCount += 1;
        if (this.observer !== undefined) {
          this.observer();
          this.#change({ kind: 'write', file, at, bytes: taken.subarray(0, taken.length >> 1) }, bytes);
          const half = this.#unflushed?.get(file)?.at(-1);
          if (half !== undefined) half.isHalf = true;
          this.observer();
          // The other half follows: together they are one write.
          if (half !== undefined) undo(bytes, half);
          if (half !== undefined) this.#unflushed?.get(file)?.pop();
        }
        this.#change({ kind: 'write', file, at, bytes: taken }, bytes);
        return fault === 'negative-after-write' ? NEGATIVE_COUNT : taken.length;
      },
      truncate: (sizeBytes) => {
        faultOf({ kind: 'truncate', file, sizeBytes: 0 });
        this.observer?.();
        this.#record({ kind: 'truncate', file, sizeBytes });
        this.#change({ kind: 'truncate', file, sizeBytes }, bytes);
      },
      flush: () => {
        faultOf({ kind: 'flush', file, sizeBytes: 0 });
        this.observer?.();
        this.#unflushed?.delete(file);
        this.#record({ kind: 'flush', file });
      },
      sizeBytes: () => {
        assertUsable();
        return bytes.sizeBytes;
      },
      close: () => {
        isOpen = false;
      },
    };
  }
}

function kill(owner: InProcessOwner, life: { isAlive: boolean }): void {
  life.isAlive = false;
  owner.die();
}

function undo(bytes: MemoryBytes, { call, sizeBefore, before }: Unflushed): void {
  if (before.length > 0) bytes.write(before, call.kind === 'write' ? call.at : call.sizeBytes);
  bytes.truncate(sizeBefore);
}
