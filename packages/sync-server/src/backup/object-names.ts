import { randomBytes } from 'node:crypto';

/*
 * The objects of a destination:
 *
 *   server.json                                   the server that copies to it (owner.ts)
 *   retention.json                                the time of the last deletion of old copies (retention.ts)
 *   schemas/<hash>.json                           the schemas that the server ran with
 *   databases/<source>/<generation>/<copies>      copies of pages (page-section.ts)
 *   databases/<source>/deleted-<time>             the database was deleted at this time
 *
 * A source is `db-<id>` as files are named, or `members`. A generation is the time of its base and a random number. The
 * name of copies is `<level>-<first>-<last>-<time>-<part>-<parts>`: level b is the base, 0 one copy, 1 up to 32 copies
 * with each of them in a section of its own, 2 and above only the newest version of each page of 32 objects of the
 * level below (maintenance.ts). Numbers have a fixed width, so that the order of keys is the order of copies.
 */

export const DATABASES = 'databases/';
export const SCHEMAS = 'schemas/';
export const MEMBERS_SOURCE = 'members';

const TIME_DIGITS = 13;
const COPY_DIGITS = 10;
const PART_DIGITS = 5;

/** `base` is the whole file. For the others, see above. */
export type Level = 'base' | 0 | 1 | 2 | 3;

export interface CopyName {
  readonly source: string;
  readonly generation: string;
  readonly level: Level;
  readonly first: number;
  readonly last: number;
  readonly timeMs: number;
  readonly part: number;
  readonly parts: number;
}

export function newGeneration(timeMs: number): string {
  return `${digits(timeMs, TIME_DIGITS)}-${randomBytes(4).toString('hex')}`;
}

/** `db-<id>.sqlite` → `db-<id>`. */
export function sourceOfFile(fileName: string): string {
  return fileName.replace(/\.sqlite$/, '');
}

export function sourcePrefix(source: string): string {
  return `${DATABASES}${source}/`;
}

export function copyKey({ source, generation, level, first, last, timeMs, part, parts }: CopyName): string {
  const name = [
    level === 'base' ? 'b' : level,
    digits(first, COPY_DIGITS),
    digits(last, COPY_DIGITS),
    digits(timeMs, TIME_DIGITS),
    digits(part, PART_DIGITS),
    digits(parts, PART_DIGITS),
  ].join('-');
  return `${sourcePrefix(source)}${generation}/${name}`;
}

const COPY = /^databases\/([^/]+)\/(\d{13}-[0-9a-f]{8})\/([b0-3])-(\d{10})-(\d{10})-(\d{13})-(\d{5})-(\d{5})$/;

/** Null if the key does not name copies. */
export function readCopyKey(key: string): CopyName | null {
  const [, source = '', generation = '', level = '', ...numbers] = COPY.exec(key) ?? [];
  if (source === '') return null;
  const [first = 0, last = 0, timeMs = 0, part = 0, parts = 0] = numbers.map(Number);
  return {
    source,
    generation,
    level: level === 'b' ? 'base' : (Number(level) as Level),
    first,
    last,
    timeMs,
    part,
    parts,
  };
}

export function deletedKey(source: string, timeMs: number): string {
  return `${sourcePrefix(source)}deleted-${digits(timeMs, TIME_DIGITS)}`;
}

/** The time in the key of a deletion. Null for any other key. */
export function readDeletedKey(key: string): number | null {
  const [, time] = /^databases\/[^/]+\/deleted-(\d{13})$/.exec(key) ?? [];
  return time === undefined ? null : Number(time);
}

function digits(number: number, width: number): string {
  return String(Math.max(0, Math.floor(number))).padStart(width, '0');
}
