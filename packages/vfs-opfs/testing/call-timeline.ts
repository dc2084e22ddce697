import { InProcessLocks } from '../src/locks/in-process-locks.ts';
import { MemoryBytes } from '../src/media/memory.ts';
import type { FileMedium, StorageFile } from '../src/media/medium.ts';
import type { DiskCall } from './disk-call.ts';
import type { Choose } from './every-schedule.ts';

/** A sector is written completely or not at all. */
const SECTOR_BYTES = 512;

/** One step of a writer as another process sees it: a call, or part of a write. */
export interface TimelineStep {
  readonly call: DiskCall;
  /** Number of calls that are complete after this step. */
  readonly callCount: number;
}

export interface TimelineReader {
  readonly medium: FileMedium;
  /** Number of steps that the writer has made. */
  position: number;
  /** How many more times the writer may move on before one of the reader's reads. */
  movesLeft: number;
}

/**
 * All states of a disk that a writer passed through, call by call and in the middle of each write. Readers look at any
 * of them, in order, as late as they like. The reader's locks do not reach the writer, as if every lock that protects
 * the reader had been lost. So the results do not depend on locks or signals.
 */
export class CallTimeline {
  readonly steps: readonly TimelineStep[];
  /** Content of every file, by number of steps. */
  readonly #states: ReadonlyMap<string, Uint8Array>[] = [new Map()];
  readonly #moments = new Map<string, readonly number[]>();

  constructor(calls: readonly DiskCall[]) {
    this.steps = calls.flatMap((call, done) =>
      partsOf(call).map((part, index, all) => ({ call: part, callCount: index === all.length - 1 ? done + 1 : done })),
    );
    for (const { call } of this.steps) this.#states.push(stateAfter(this.#states.at(-1)!, call));
  }

  /** Returns a reader that begins after `position` steps. */
  reader(choose: Choose, position: number): TimelineReader {
    const locks = new InProcessLocks().owner();
    const reader: { position: number; movesLeft: number; medium: FileMedium } = {
      position,
      movesLeft: 0,
      medium: undefined as unknown as FileMedium,
    };
    const file = (fileName: string): StorageFile => ({
      read: (into, at) => {
        if (reader.movesLeft > 0) {
          const moved = this.#moveOn(choose, reader.position, fileName, at, into.length);
          if (moved > reader.position) reader.movesLeft -= 1;
          reader.position = moved;
        }
        const content = this.#states[reader.position]!.get(fileName)!;
        const count = Math.max(0, Math.min(into.length, content.length - at));
        into.set(content.subarray(at, at + count));
        return count;
      },
      write: () => readOnly(),
      truncate: () => readOnly(),
      flush: () => readOnly(),
      sizeBytes: () => this.#states[reader.position]!.get(fileName)!.length,
      close: () => undefined,
    });
    reader.medium = {
      kind: 'timeline',
      persistence: 'memory',
      allowsReaders: true,
      locks,
      signals: locks,
      missing: async () => [],
      freeBytes: async () => undefined,
      open: async (fileName) => (this.#states[reader.position]!.has(fileName) ? file(fileName) : undefined),
      rename: async () => readOnly(),
      remove: async () => readOnly(),
      list: async () => [...this.#states[reader.position]!.keys()],
      sizeBytes: async (fileName) => this.#states[reader.position]!.get(fileName)?.length,
    };
    return reader;
  }

  /**
   * Lets the writer move on before a read, to any later moment. If the read returns the same bytes at several moments,
   * tries only the first of them, because the reader can move on from it to everything that it could reach from a later
   * one.
   */
  #moveOn(choose: Choose, position: number, fileName: string, at: number, length: number): number {
    const key = `${position} ${fileName} ${at} ${length}`;
    const moments = this.#moments.get(key) ?? this.#momentsOf(position, fileName, at, at + length);
    this.#moments.set(key, moments);
    return moments[choose(moments.length)]!;
  }

  #momentsOf(position: number, fileName: string, from: number, to: number): readonly number[] {
    const moments = [position];
    for (let next = position + 1; next < this.#states.length; next += 1) {
      const { call } = this.steps[next - 1]!;
      if (
        call.file === fileName &&
        isChanged(this.#states[next - 1]!.get(fileName)!, this.#states[next]!.get(fileName)!, from, to)
      )
        moments.push(next);
    }
    return moments;
  }
}

function isChanged(before: Uint8Array, after: Uint8Array, from: number, to: number): boolean {
  if (before === after) return false;
  const end = Math.min(to, Math.max(before.length, after.length));
  for (let index = from; index < end; index += 1) if (before[index] !== after[index]) return true;
  return false;
}

function readOnly(): never {
  throw new Error('a reader tried to write');
}

/** Splits a write into the worst order of visibility: its beginning, its end, and then the middle. */
function partsOf(call: DiskCall): DiskCall[] {
  if (call.kind !== 'write' || call.bytes.length <= SECTOR_BYTES) return [call];
  const middle = Math.max(SECTOR_BYTES, call.bytes.length >> 1);
  const part = (from: number, to: number): DiskCall => ({
    ...call,
    at: call.at + from,
    bytes: call.bytes.subarray(from, to),
  });
  return [part(0, SECTOR_BYTES), part(middle, call.bytes.length), part(SECTOR_BYTES, middle)];
}

function stateAfter(state: ReadonlyMap<string, Uint8Array>, call: DiskCall): ReadonlyMap<string, Uint8Array> {
  if (call.kind === 'flush') return state;
  const next = new Map(state);
  if (call.kind === 'create') return next.set(call.file, new Uint8Array(0));
  if (call.kind !== 'write' && call.kind !== 'truncate') throw new Error('a writer tried to remove or rename a file');
  const bytes = new MemoryBytes();
  bytes.write(state.get(call.file)!, 0);
  if (call.kind === 'write') bytes.write(call.bytes, call.at);
  else bytes.truncate(call.sizeBytes);
  const content = new Uint8Array(bytes.sizeBytes);
  bytes.read(content, 0);
  return next.set(call.file, content);
}
