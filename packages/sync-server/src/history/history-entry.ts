import {
  ByteReader,
  ByteWriter,
  readTagged,
  writeTagged,
  type CellValue,
  type ChangeKind,
  type TextSplice,
} from '@rockpool/shared';

/**
 * A stored version of a row: the values that it replaced. The values after it are in the next version, or in the row
 * itself, so each value is stored once.
 */
export interface HistoryEntry {
  readonly kind: ChangeKind;
  /** The watermark of the row's previous version; 0 if there was none. */
  readonly previous: number;
  /** Whether the previous version is the first insert of the row, which has no entry of its own. */
  readonly previousIsFirst: boolean;
  /** For an update, the columns that changed; for a delete, all columns; for an insert, none. */
  readonly replaced: ReadonlyMap<number, ReplacedValue>;
}

/** A replaced value: the whole value, or the splice that turns the newer value into it. */
export type ReplacedValue = { readonly value: CellValue } | { readonly splice: TextSplice };

const KINDS: readonly ChangeKind[] = ['insert', 'update', 'delete'];
// Distinct from the type bytes of values, which are 0 to 4.
const SPLICE = 0xff;

/*
 * u8 kind (0 insert, 1 update, 2 delete); varint twice the previous watermark, plus 1 if that is the first insert; then
 * for each column until the end: u32 column id, u8 255 and a splice (varint prefix, varint suffix, text middle), or
 * u8 0 and a value with its type
 */
export function encodeHistoryEntry({ kind, previous, previousIsFirst, replaced }: HistoryEntry): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(KINDS.indexOf(kind));
  writer.varint(previous * 2 + (previousIsFirst ? 1 : 0));
  for (const [columnId, old] of replaced) {
    writer.u32(columnId);
    if ('splice' in old) {
      writer.u8(SPLICE);
      writer.varint(old.splice.prefix);
      writer.varint(old.splice.suffix);
      writer.text(old.splice.middle);
    } else {
      writer.u8(0);
      writeTagged(writer, old.value);
    }
  }
  return writer.finish();
}

export function decodeHistoryEntry(bytes: Uint8Array): HistoryEntry {
  const reader = new ByteReader(bytes, 'storage-corrupt');
  const kind = KINDS[reader.u8()] ?? reader.fail('a version has an unknown kind');
  const previous = reader.varint();
  const replaced = new Map<number, ReplacedValue>();
  while (reader.remaining > 0) {
    const columnId = reader.u32();
    if (reader.u8() === SPLICE)
      replaced.set(columnId, {
        splice: { prefix: reader.varint(), suffix: reader.varint(), middle: reader.text() },
      });
    else replaced.set(columnId, { value: readTagged(reader) });
  }
  return { kind, previous: Math.floor(previous / 2), previousIsFirst: previous % 2 === 1, replaced };
}
