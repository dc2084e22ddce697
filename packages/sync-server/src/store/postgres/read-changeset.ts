import type { CellValue } from '@rockpool/shared';

/** One row of a transaction, as SQLite's session extension tells it. */
export interface StoredChange {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /** In the order of the table's columns that are not generated. Undefined: an update left it as it was; of a delete all but the key. */
  readonly values: readonly (CellValue | undefined)[];
}

const TABLE = 0x54;
const KINDS: Readonly<Record<number, StoredChange['kind']>> = { 9: 'delete', 18: 'insert', 23: 'update' };

/**
 * Reads a changeset of SQLite's own format (sqlite.org/session/sqlite3changeset_new.html): for each table a header, then a record per row.
 * The bytes are those that this server, or another one of the same store, has got from SQLite: what does not fit is a bug, and throws.
 */
export function readStoredChanges(bytes: Uint8Array): StoredChange[] {
  const reader = new Reader(bytes);
  const changes: StoredChange[] = [];
  let table = '';
  let keys: boolean[] = [];
  while (!reader.isAtEnd) {
    const code = reader.byte();
    if (code === TABLE) {
      keys = Array.from({ length: reader.varint() }, () => 0).map(() => reader.byte() > 0);
      table = reader.name();
      continue;
    }
    const kind = KINDS[code];
    if (kind === undefined) throw new Error(`a stored changeset has the unknown operation ${code}`);
    reader.byte(); // whether it is indirect: a trigger's or a foreign key's, of which there are none
    const first = keys.map(() => reader.value());
    if (kind === 'insert') changes.push({ table, kind, values: first });
    else if (kind === 'delete') changes.push({ table, kind, values: first.map((value, i) => (keys[i] === true ? value : undefined)) });
    else {
      const now = keys.map(() => reader.value());
      changes.push({ table, kind, values: now.map((value, i) => (keys[i] === true ? first[i] : value)) });
    }
  }
  return changes;
}

class Reader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    return this.view.getUint8(this.at++);
  }

  /** SQLite's: 7 bits a byte, the highest first. Lengths never need the ninth byte. */
  varint(): number {
    let value = 0;
    for (;;) {
      const byte = this.byte();
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
  }

  name(): string {
    const end = this.bytes.indexOf(0, this.at);
    const name = new TextDecoder().decode(this.bytes.subarray(this.at, end));
    this.at = end + 1;
    return name;
  }

  value(): CellValue | undefined {
    switch (this.byte()) {
      case 0:
        return undefined;
      case 1:
        return this.view.getBigInt64(this.skip(8));
      case 2:
        return this.view.getFloat64(this.skip(8));
      case 3:
        return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.run());
      case 4:
        return this.run().slice();
      case 5:
        return null;
      default:
        throw new Error('a stored changeset has a value of an unknown type');
    }
  }

  private run(): Uint8Array {
    const length = this.varint();
    const start = this.skip(length);
    return this.bytes.subarray(start, start + length);
  }

  private skip(length: number): number {
    const start = this.at;
    this.at += length;
    return start;
  }
}
