import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { RockpoolError } from '@rockpool/shared';
import { pageSum } from '../sqlite/page-sums.ts';

/*
 * An object holds one section or several, one after the other:
 *
 *   8 bytes    "RPPAGES1"
 *   u32, u32   lengths in bytes of the header and of the pages as stored
 *   header     JSON: SectionHeader
 *   pages      zstd: for each page u32 number and u32 CRC-32, then the pages in the same order
 *   32 bytes   SHA-256 of all of the section before it
 *
 * All numbers are little-endian.
 */
const MAGIC = Buffer.from('RPPAGES1', 'latin1');
const FIXED_BYTES = MAGIC.length + 8;
const HASH_BYTES = 32;
const ENTRY_BYTES = 8;

/** The maximum number of pages in one section: 4 MiB before compression with SQLite's usual pages of 4 KiB. */
export const PAGES_PER_OBJECT = 1_024;

/** The default level of zstd. A higher level takes several times as long, and its output is only a tenth smaller. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The pages that a section changes, and the state of the database before and after it. */
export interface SectionHeader {
  /** The section covers the copies `first` to `last`, and applies to copy `first - 1`. In a base, both are 0. */
  readonly first: number;
  readonly last: number;
  /** A copy of many pages is split into parts, counted from 0. */
  readonly part: number;
  readonly parts: number;
  /** The time of the newest commit that the copy contains, ms since 1970. */
  readonly timeMs: number;
  /** The end of the log in the copy. Null for a file without a log. */
  readonly watermark: number | null;
  readonly pageSizeBytes: number;
  /** The number of pages of the file after the copy. */
  readonly pageCount: number;
  /** The state sum of the previous copy. */
  readonly before: string;
  /** The state sum after the copy. Only the last part has it. */
  readonly after: string | null;
}

/** A page of a database file. The first page has the number 1. */
export interface Page {
  readonly number: number;
  readonly sum: number;
  readonly content: Uint8Array;
}

export interface Section {
  readonly header: SectionHeader;
  readonly pages: readonly Page[];
}

export async function encodeSection(header: SectionHeader, pages: readonly Page[]): Promise<Buffer> {
  const index = Buffer.alloc(pages.length * ENTRY_BYTES);
  pages.forEach(({ number, sum }, i) => {
    index.writeUInt32LE(number, i * ENTRY_BYTES);
    index.writeUInt32LE(sum, i * ENTRY_BYTES + 4);
  });
  const stored = await compress(Buffer.concat([index, ...pages.map(({ content }) => content)]), COMPRESSION);
  const json = Buffer.from(JSON.stringify({ ...header, pages: pages.length }));
  const fixed = Buffer.alloc(FIXED_BYTES);
  MAGIC.copy(fixed);
  fixed.writeUInt32LE(json.length, MAGIC.length);
  fixed.writeUInt32LE(stored.length, MAGIC.length + 4);
  const hash = createHash('sha256').update(fixed).update(json).update(stored).digest();
  return Buffer.concat([fixed, json, stored, hash]);
}

/**
 * Yields the sections of an object. Unpacks each one only when it is requested, because pages may be thousands of times
 * as large as in the object. Throws `backup-damaged` if any byte differs from what was written.
 */
export async function* decodeSections(key: string, bytes: Uint8Array): AsyncGenerator<Section> {
  const object = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (object.length === 0) throw damaged(key, 'the object is empty');
  for (let offset = 0; offset < object.length;) {
    const { section, end } = await decodeSection(key, object, offset);
    yield section;
    offset = end;
  }
}

async function decodeSection(
  key: string,
  object: Buffer,
  offset: number,
): Promise<{ readonly section: Section; readonly end: number }> {
  const content = offset + FIXED_BYTES;
  if (content > object.length || !object.subarray(offset, offset + MAGIC.length).equals(MAGIC))
    throw damaged(key, 'the object is not a copy of pages');
  const payload = content + object.readUInt32LE(offset + MAGIC.length);
  const hash = payload + object.readUInt32LE(offset + MAGIC.length + 4);
  const end = hash + HASH_BYTES;
  if (end > object.length) throw damaged(key, 'the end of the object is missing');
  if (!createHash('sha256').update(object.subarray(offset, hash)).digest().equals(object.subarray(hash, end)))
    throw damaged(key, 'the object does not match its hash');
  const header = JSON.parse(object.toString('utf8', content, payload)) as SectionHeader & { readonly pages: number };
  const unpacked = await decompress(object.subarray(payload, hash));
  return { section: { header, pages: readPages(key, header, unpacked) }, end };
}

function readPages(
  key: string,
  { pageSizeBytes, pages: count }: SectionHeader & { readonly pages: number },
  unpacked: Buffer,
): Page[] {
  if (unpacked.length !== count * (ENTRY_BYTES + pageSizeBytes))
    throw damaged(key, 'the pages of the object are incomplete');
  return Array.from({ length: count }, (_, i) => {
    const start = count * ENTRY_BYTES + i * pageSizeBytes;
    const page = {
      number: unpacked.readUInt32LE(i * ENTRY_BYTES),
      sum: unpacked.readUInt32LE(i * ENTRY_BYTES + 4),
      content: unpacked.subarray(start, start + pageSizeBytes),
    };
    if (pageSum(page.content) !== page.sum) throw damaged(key, `page ${page.number} differs from its checksum`);
    return page;
  });
}

export function damaged(key: string, problem: string): RockpoolError {
  return new RockpoolError('backup-damaged', { object: key, problem });
}
