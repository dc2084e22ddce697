import { MemoryBytes } from '../src/media/memory.ts';
import type { DiskCall } from './disk-call.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { tear, type Random } from './torn-write.ts';

/**
 * - `everything`: the process died, but not the machine. All calls survive.
 * - `flushed-only`: a power cut before any unflushed call had reached the disk.
 * - `some`: a power cut after any of the unflushed calls had reached the disk, in any order.
 * - `torn`: like `some`, and one unflushed write had reached the disk in part: any of its sectors.
 */
export type Survivors = 'everything' | 'flushed-only' | 'some' | 'torn';

export interface CrashImage {
  /** The crash came after this many calls. */
  readonly callCount: number;
  readonly survivors: Survivors;
  /** Returns a new disk with what survived. After the death of a process, unflushed calls are still unflushed. */
  restore(): SimulatedDisk;
}

/** Random numbers from a seed (xorshift with a final multiplication). */
export function seededRandom(seed: number): Random {
  let state = (seed * 2654435769 + 1) | 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (Math.imul(state, 0x45d9f3b) >>> 0) / 0x1_0000_0000;
  };
}

/**
 * Yields what crashes could have left of a disk. For every prefix of its calls: one image with everything, one with
 * only the flushed calls, `subsetsPerCall` with a random part, and as many with a torn write.
 */
export function* crashImages(
  disk: SimulatedDisk,
  random: Random,
  subsetsPerCall: number,
): Generator<CrashImage, void, undefined> {
  const { calls } = disk;
  const flushed = new Map([...disk.initialFiles].map(([name, content]) => [name, bytesOf(content)]));
  let pending: DiskCall[] = [...disk.initialUnflushed];
  for (let callCount = 0; callCount <= calls.length; callCount += 1) {
    const call = calls[callCount - 1];
    if (call?.kind === 'flush') {
      for (const waiting of pending) if (waiting.file === call.file) applyCall(flushed, waiting);
      pending = pending.filter((waiting) => waiting.file !== call.file);
    } else if (call?.kind === 'create' || call?.kind === 'remove') {
      applyCall(flushed, call);
    } else if (call?.kind === 'rename') {
      applyCall(flushed, call);
      pending = pending.map((waiting) => (waiting.file === call.file ? { ...waiting, file: call.newName } : waiting));
    } else if (call !== undefined) {
      pending.push(call);
    }
    const waiting = [...pending];
    const image = (survivors: Survivors, kept: readonly DiskCall[]): CrashImage => ({
      callCount,
      survivors,
      restore: () => (survivors === 'everything' ? diskWith(flushed, kept) : restore(flushed, kept)),
    });
    yield image('everything', waiting);
    if (waiting.length === 0) continue;
    yield image('flushed-only', []);
    for (let subset = 0; subset < subsetsPerCall; subset += 1) {
      yield image(
        'some',
        waiting.filter(() => random() < 0.5),
      );
      yield image(
        'torn',
        tear(
          waiting.filter(() => random() < 0.7),
          random,
        ),
      );
    }
  }
}

function restore(flushed: ReadonlyMap<string, MemoryBytes>, kept: readonly DiskCall[]): SimulatedDisk {
  const files = new Map<string, MemoryBytes>();
  for (const [name, bytes] of flushed) files.set(name, bytesOf(contentOf(bytes)));
  for (const call of kept) applyCall(files, call);
  return diskWith(files, []);
}

function diskWith(flushed: ReadonlyMap<string, MemoryBytes>, unflushed: readonly DiskCall[]): SimulatedDisk {
  const files = new Map([...flushed].map(([name, bytes]) => [name, contentOf(bytes)]));
  return new SimulatedDisk({ keepCalls: true, files, unflushed });
}

function contentOf(bytes: MemoryBytes): Uint8Array {
  const content = new Uint8Array(bytes.sizeBytes);
  bytes.read(content, 0);
  return content;
}

function bytesOf(content: Uint8Array): MemoryBytes {
  const bytes = new MemoryBytes();
  bytes.write(content, 0);
  return bytes;
}

function applyCall(files: Map<string, MemoryBytes>, call: DiskCall): void {
  switch (call.kind) {
    case 'create':
      files.set(call.file, new MemoryBytes());
      break;
    case 'remove':
      files.delete(call.file);
      break;
    case 'rename':
      files.set(call.newName, files.get(call.file) ?? new MemoryBytes());
      files.delete(call.file);
      break;
    case 'write':
      files.get(call.file)?.write(call.bytes, call.at);
      break;
    case 'truncate':
      files.get(call.file)?.truncate(call.sizeBytes);
      break;
    case 'flush':
      break;
  }
}
