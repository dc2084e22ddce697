import { ByteReader } from '../bytes/byte-reader.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { isAllowedKey } from './json.ts';
import { isFormatName, isFormatValue, MAX_FORMAT_LENGTH } from './rich-text.ts';
import { RICH } from './rich-text-node.ts';

/** The rules for the content of an edit and for its dependencies. */
export interface UpdatePolicy {
  /** The only client that may add operations. */
  readonly clientId: number;
  /** The next clock of each client in the document; 0 for others. */
  readonly clocks: ReadonlyMap<number, number>;
  /** Limit for the advance of the client's clock: characters, elements and members together. */
  readonly maxAdvance: number;
  /** Whether the document can have rich texts. */
  readonly hasRichText: boolean;
}

/*
 * Reads a Yjs update (in the first encoding, the only one accepted) without building anything from it. Expensive,
 * harmful or misplaced input is rejected before it reaches Yjs, whose own decoder allocates what the bytes claim, keeps
 * operations without predecessors forever, and changes the document before it notices that the rest is unreadable.
 *
 *     varint clients; each: varint structs, varint client, varint clock, the structs
 *     struct: u8 info: low 5 bits the content, 128 left neighbour, 64 right neighbour, 32 member name;
 *             neighbours as (client, clock), the parent where there is no neighbour; the content
 *     varint clients with deletions; each: varint client, varint ranges; each: varint clock, varint length
 */
const GARBAGE = 0;
const DELETED = 1;
const STRING = 4;
const FORMAT = 6;
const TYPE = 7;
const ANY = 8;
const CONTENT_BITS = 0b1_1111;
const HAS_LEFT = 0b1000_0000;
const HAS_RIGHT = 0b0100_0000;
const HAS_MEMBER = 0b0010_0000;

/** Y.Array, Y.Map, Y.Text. XML and nested documents have no JSON. */
const TYPES_WITH_JSON: ReadonlySet<number> = new Set([0, 1, 2]);
const SHARED_ROOT = 'json';
/** A UTF-16 unit takes at most six bytes in JSON, plus the quotes. */
const MAX_FORMAT_BYTES = 6 * MAX_FORMAT_LENGTH + 2;

/**
 * Checks an update. Throws `document-invalid` for anything that an honest author never sends, and `document-gap` for an
 * edit that builds on operations that the document lacks.
 */
export function inspectUpdate(update: Uint8Array, policy: UpdatePolicy): void {
  const inspection = new Inspection(update, policy);
  inspection.structs();
  inspection.deletions();
}

class Inspection {
  private readonly reader: ByteReader;
  private readonly policy: UpdatePolicy;
  /** The clock of the next struct of the client. */
  private clock: number;

  constructor(update: Uint8Array, policy: UpdatePolicy) {
    this.reader = new ByteReader(update, 'document-invalid');
    this.policy = policy;
    this.clock = policy.clocks.get(policy.clientId) ?? 0;
  }

  structs(): void {
    const { reader, policy } = this;
    const clients = reader.varint();
    if (clients > 1) reader.fail('the edit has operations of several clients');
    if (clients === 0) return;
    // A struct takes at least an info byte and a byte of content, which limits the count.
    const count = reader.count(2);
    if (reader.varint() !== policy.clientId) reader.fail('the edit has operations of another client');
    const start = reader.varint();
    if (start > this.clock) throw gap();
    if (start < this.clock) reader.fail('the edit has operations that are already known');
    const limit = this.clock + policy.maxAdvance;
    for (let i = 0; i < count; i++) {
      this.clock += this.struct();
      if (this.clock > limit) reader.fail('the edit has too many operations');
    }
  }

  deletions(): void {
    const { reader } = this;
    const clients = reader.count(4);
    for (let i = 0; i < clients; i++) {
      const client = reader.varint();
      const ranges = reader.count(2);
      for (let range = 0; range < ranges; range++) {
        const clock = reader.varint();
        const length = reader.varint();
        if (length === 0) reader.fail('the edit has an empty deletion');
        if (clock + length > this.clockOf(client)) throw gap();
      }
    }
    reader.expectEnd();
  }

  /** Reads a struct and returns its length in clock ticks. */
  private struct(): number {
    const { reader } = this;
    const info = reader.u8();
    const content = info & CONTENT_BITS;
    if (content === GARBAGE) return this.length();
    const neighbours = (info & (HAS_LEFT | HAS_RIGHT)) !== 0;
    if ((info & HAS_LEFT) !== 0) this.reference();
    if ((info & HAS_RIGHT) !== 0) this.reference();
    if (!neighbours) {
      this.parent();
      if ((info & HAS_MEMBER) !== 0) this.memberName();
    }
    return this.content(content);
  }

  private parent(): void {
    const { reader } = this;
    const byName = reader.varint();
    if (byName === 0) this.reference();
    else if (byName !== 1 || reader.text() !== SHARED_ROOT)
      reader.fail('the edit names a position outside the document');
  }

  private memberName(): void {
    const name = this.reader.text();
    if (!isAllowedKey(name) || (name === RICH && !this.policy.hasRichText))
      this.reader.fail('the edit has a forbidden key');
  }

  private content(content: number): number {
    const { reader } = this;
    switch (content) {
      case DELETED:
        return this.length();
      case STRING: {
        const { length } = reader.text();
        return length > 0 ? length : reader.fail('the edit has an empty run');
      }
      case FORMAT:
        this.format();
        return 1;
      case TYPE:
        if (!TYPES_WITH_JSON.has(reader.varint())) reader.fail('the edit has a type that JSON does not have');
        return 1;
      case ANY: {
        const count = reader.count(1);
        for (let i = 0; i < count; i++) this.scalar();
        return count > 0 ? count : reader.fail('the edit has an empty run');
      }
      default:
        return reader.fail('the edit has content that is not JSON');
    }
  }

  /** Reads a format: a name, and a value as JSON; null ends the format. */
  private format(): void {
    const { reader, policy } = this;
    if (!policy.hasRichText) reader.fail('the edit has a format in a document without rich text');
    if (!isFormatName(reader.text())) reader.fail('the edit has a forbidden format');
    const bytes = reader.lengthPrefixed();
    if (bytes.length > MAX_FORMAT_BYTES) reader.fail('the edit has a format that is too large');
    const value = parseFormat(reader.utf8(bytes));
    if (value !== null && !isFormatValue(value)) reader.fail('the edit has a format that is not a scalar');
  }

  /** Reads one value in lib0 encoding. Objects and arrays are types of their own in a document, never values. */
  private scalar(): void {
    const { reader } = this;
    switch (reader.u8()) {
      case 126: // null
      case 121: // false
      case 120: // true
        return;
      case 125: {
        // An integer has six bits and a sign in its first byte, then seven bits per byte.
        let byte = reader.u8();
        for (let count = 0; (byte & 0x80) !== 0; count++) {
          if (count > 8) reader.fail('the edit has a number with too many bytes');
          byte = reader.u8();
        }
        return;
      }
      case 124:
        return void reader.bytes(4);
      case 123:
        return void reader.bytes(8);
      case 119:
        return void reader.text();
      default:
        reader.fail('the edit has a value that is not JSON');
    }
  }

  private length(): number {
    const length = this.reader.varint();
    return length > 0 ? length : this.reader.fail('the edit has an empty run');
  }

  private reference(): void {
    const client = this.reader.varint();
    if (this.reader.varint() >= this.clockOf(client)) throw gap();
  }

  private clockOf(client: number): number {
    return client === this.policy.clientId ? this.clock : (this.policy.clocks.get(client) ?? 0);
  }
}

/** Undefined for text that is not JSON. */
function parseFormat(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function gap(): RockpoolError {
  return new RockpoolError('document-gap');
}
