import { RockpoolError } from '@rockpool/shared';
import type { OpenedDatabase } from './leader/opened-database.ts';
import type { Reads } from '../rpc/reads.ts';
import type { EncodedRows } from '../rpc/rows-transfer.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { OpenDatabase } from './database/open-database.ts';

/**
 * The time limit for reading one part of a stream: half a frame. The page needs less time for the same rows, so neither
 * thread is busy for longer than this.
 */
const CHUNK_MS = 8;

/** The maximum number of rows in one part of a stream: as many as the page can process in half a frame. */
const CHUNK_ROWS = 8_192;

export interface StreamsOptions {
  /** A connection for one stream, which stays at one snapshot. Null if the storage allows only one connection. */
  readonly openReader: (() => Promise<OpenedDatabase<OpenDatabase>>) | null;
  /** Reads a whole result if there is no such connection. */
  readonly reads: Pick<Reads, 'query'>;
  readonly nowMs: () => number;
}

/** Large results, sent to the page in parts on request. */
export interface Streams {
  open(streamId: number, statement: SqlStatement): Promise<void>;
  /** Null after the last rows. */
  next(streamId: number): Promise<EncodedRows | null>;
  close(streamId: number): Promise<void>;
  /**
   * Called when the page is suspended: an open stream would block WAL checkpoints. Requests to it fail with
   * `storage-lost`.
   */
  closeAll(): Promise<void>;
}

interface Stream {
  readonly next: () => EncodedRows | null;
  readonly close: () => Promise<void>;
}

export function createStreams({ openReader, reads, nowMs }: StreamsOptions): Streams {
  // Includes streams that are being opened, which must not stay open if they are closed meanwhile.
  const streams = new Map<number, Promise<Stream>>();

  async function openStream(statement: SqlStatement): Promise<Stream> {
    if (openReader === null) {
      let whole: EncodedRows | null = await reads.query(statement);
      const next = (): EncodedRows | null => {
        const rows = whole;
        whole = null;
        return rows;
      };
      return { next, close: () => Promise.resolve() };
    }
    const reader = await openReader();
    const close = (): Promise<void> => reader.close({ handsOver: false });
    try {
      const cursor = reader.database.openCursor(statement);
      const next = (): EncodedRows | null => {
        const endMs = nowMs() + CHUNK_MS;
        return cursor.next((rowCount) => rowCount >= CHUNK_ROWS || nowMs() >= endMs);
      };
      return { next, close };
    } catch (thrown) {
      await close();
      throw thrown;
    }
  }

  async function close(streamId: number): Promise<void> {
    const stream = streams.get(streamId);
    streams.delete(streamId);
    // A stream that reads a whole result holds nothing open, and its query may take long. If it cannot be opened, the
    // caller receives the failure.
    if (openReader !== null) await (await stream?.catch(() => null))?.close();
  }

  return {
    async open(streamId, statement) {
      const stream = openStream(statement);
      streams.set(streamId, stream);
      await stream;
    },
    async next(streamId) {
      const stream = streams.get(streamId);
      if (stream === undefined) throw new RockpoolError('storage-lost', { reason: 'the stream was closed' });
      return (await stream).next();
    },
    close,
    async closeAll() {
      await Promise.all([...streams.keys()].map(close));
    },
  };
}
