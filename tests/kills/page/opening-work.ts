import type { OpeningWork } from '../report.ts';

type FileWork = Omit<OpeningWork, 'isLockFree'>;

interface OpenFile {
  readonly name: string;
  readonly handle: FileSystemSyncAccessHandle;
  readBytes: number;
  rereadBytes: number;
  /** Position and length of each read. */
  readonly reads: Set<string>;
}

/** The header of a segment, which an opening reads once for an unfinished import and once for the log. */
const HEADER_BYTES = 64;

const files: OpenFile[] = [];
let refusedHandles = 0;

/** Call once in a worker, before the first `fileWorkOf`. */
export function watchFiles(): void {
  const create = FileSystemFileHandle.prototype.createSyncAccessHandle;
  FileSystemFileHandle.prototype.createSyncAccessHandle = async function (this: FileSystemFileHandle, ...options) {
    try {
      const handle = await create.apply(this, options);
      files.push({ name: this.name, handle, readBytes: 0, rereadBytes: 0, reads: new Set() });
      return handle;
    } catch (error) {
      refusedHandles += 1;
      throw error;
    }
  };
  const { read } = FileSystemSyncAccessHandle.prototype;
  FileSystemSyncAccessHandle.prototype.read = function (this: FileSystemSyncAccessHandle, into, options) {
    const count = read.call(this, into, options);
    const file = files.find(({ handle }) => handle === this);
    if (file !== undefined) note(file, `${options?.at} ${into.byteLength}`, count);
    return count;
  };
}

function note(file: OpenFile, read: string, count: number): void {
  file.readBytes += count;
  if (count > HEADER_BYTES && file.reads.has(read)) file.rereadBytes += count;
  file.reads.add(read);
}

/** What `open`, which opens one database, does with the files of OPFS. */
export async function fileWorkOf<Opened>(open: () => Promise<Opened>): Promise<readonly [Opened, FileWork]> {
  files.length = 0;
  refusedHandles = 0;
  const result = await open();
  const log = files.filter(({ name }) => /-log[01]$/.test(name));
  const work = {
    refusedHandles,
    logBytes: sum(log.map(({ handle }) => handle.getSize())),
    readBytes: sum(files.map(({ readBytes }) => readBytes)),
    rereadBytes: sum(files.map(({ rereadBytes }) => rereadBytes)),
  };
  // Reads of the open database are not counted.
  files.length = 0;
  return [result, work];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
