import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { utf8Length } from '../bytes/utf8-length.ts';
import type { CellValue } from './cell-value.ts';

/*
 * A run of values of one column:
 *     form u8: low 4 bits the type, bit 7 set when some values are NULL
 *     [NULL bitmap, 1 = NULL, ceil(n/8) bytes, when bit 7 is set]
 *     the values that are not NULL:
 *       0 none      every value is NULL
 *       1 integer   a zigzag varint each
 *       2 real      8 bytes each
 *       3 text      byte lengths as varints, then all UTF-8 in one run
 *       4 blob      as text
 *       5 mixed     per value one type byte (1 to 4), then the value with its length
 */
const NONE = 0;
const INTEGER = 1;
const REAL = 2;
const TEXT = 3;
const BLOB = 4;
const MIXED = 5;
const HAS_NULLS = 0x80;

function typeOf(value: CellValue): number {
  if (value === null) return NONE;
  if (typeof value === 'bigint') return INTEGER;
  if (typeof value === 'number') return REAL;
  return typeof value === 'string' ? TEXT : BLOB;
}

export function writeColumn(writer: ByteWriter, values: readonly CellValue[]): void {
  let form = NONE;
  let nulls = 0;
  for (const value of values) {
    const type = typeOf(value);
    if (type === NONE) nulls++;
    else if (form === NONE) form = type;
    else if (form !== type) form = MIXED;
  }
  const bitmap = nulls > 0 && form !== NONE;
  writer.u8(bitmap ? form | HAS_NULLS : form);
  if (form === NONE) return;
  if (bitmap) writeNullBitmap(writer, values);
  const present =
    nulls > 0 ? values.filter((value) => value !== null) : (values as readonly Exclude<CellValue, null>[]);
  if (form === TEXT || form === BLOB) {
    const sizes = present.map((value) =>
      typeof value === 'string' ? utf8Length(value) : (value as Uint8Array).length,
    );
    for (const size of sizes) writer.varint(size);
    present.forEach((value, i) => {
      if (typeof value === 'string') writer.utf8(value, sizes[i] as number);
      else writer.bytes(value as Uint8Array);
    });
  } else if (form === INTEGER) for (const value of present) writer.int64(value as bigint);
  else if (form === REAL) for (const value of present) writer.f64(value as number);
  else for (const value of present) writeTagged(writer, value);
}

export function readColumn(reader: ByteReader, count: number): CellValue[] {
  const head = reader.u8();
  const form = head & 0x7f;
  if (form === NONE) {
    if (head !== NONE) reader.fail('a run of NULL has a bitmap');
    return new Array<CellValue>(count).fill(null);
  }
  if ((head & HAS_NULLS) === 0) return readPresent(reader, form, count);
  const bitmap = reader.bytes((count + 7) >> 3);
  const isNull = (row: number): boolean => ((bitmap[row >> 3] as number) & (1 << (row & 7))) !== 0;
  let presentCount = 0;
  for (let row = 0; row < count; row++) if (!isNull(row)) presentCount++;
  const present = readPresent(reader, form, presentCount);
  const values: CellValue[] = [];
  for (let row = 0, next = 0; row < count; row++) values.push(isNull(row) ? null : (present[next++] as CellValue));
  return values;
}

/** Reads the values of a run that are not NULL. */
function readPresent(reader: ByteReader, form: number, count: number): CellValue[] {
  if (count > reader.remaining) reader.fail('a column declares more values than the remaining bytes can hold');
  const values: CellValue[] = [];
  if (form === TEXT || form === BLOB) {
    const lengths: number[] = [];
    for (let i = 0; i < count; i++) lengths.push(reader.varint());
    for (const length of lengths) {
      const bytes = reader.bytes(length);
      values.push(form === TEXT ? reader.utf8(bytes) : bytes.slice());
    }
  } else if (form === INTEGER) for (let i = 0; i < count; i++) values.push(reader.int64());
  else if (form === REAL) for (let i = 0; i < count; i++) values.push(reader.f64());
  else if (form === MIXED) for (let i = 0; i < count; i++) values.push(readTagged(reader));
  else reader.fail('the encoding of a column is unknown');
  return values;
}

function writeNullBitmap(writer: ByteWriter, values: readonly CellValue[]): void {
  for (let start = 0; start < values.length; start += 8) {
    let byte = 0;
    for (let bit = 0; bit < 8; bit++) if (start + bit < values.length && values[start + bit] === null) byte |= 1 << bit;
    writer.u8(byte);
  }
}

/** Writes one value with its type byte, for keys and for runs of mixed types. */
export function writeTagged(writer: ByteWriter, value: CellValue): void {
  const type = typeOf(value);
  writer.u8(type);
  if (type === INTEGER) writer.int64(value as bigint);
  else if (type === REAL) writer.f64(value as number);
  else if (type === TEXT) writer.text(value as string);
  else if (type === BLOB) writer.lengthPrefixed(value as Uint8Array);
}

export function readTagged(reader: ByteReader): CellValue {
  switch (reader.u8()) {
    case NONE:
      return null;
    case INTEGER:
      return reader.int64();
    case REAL:
      return reader.f64();
    case TEXT:
      return reader.text();
    case BLOB:
      return reader.lengthPrefixed().slice();
    default:
      return reader.fail('a value has an unknown type');
  }
}
