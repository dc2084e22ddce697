import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { isErrorCode } from '../errors/error-codes.ts';
import { RockpoolError, type ErrorFields } from '../errors/rockpool-error.ts';
import type { ErrorCode } from '../errors/error-codes.ts';

/** The decision about one changeset. The server keeps it until the client has confirmed it. */
export type Outcome =
  | {
      readonly kind: 'admitted';
      readonly sequence: number;
      /** Its position in the log. */
      readonly watermark: number;
      /** The number of its cells that lost to a concurrent write; each has an entry in the conflict log. */
      readonly conflictCount: number;
    }
  | { readonly kind: 'rejected'; readonly sequence: number; readonly code: ErrorCode; readonly fields: ErrorFields };

const ADMITTED = 1;
const REJECTED = 2;

export function writeOutcome(writer: ByteWriter, outcome: Outcome): void {
  writer.u8(outcome.kind === 'admitted' ? ADMITTED : REJECTED);
  writer.varint(outcome.sequence);
  if (outcome.kind === 'admitted') {
    writer.varint(outcome.watermark);
    writer.varint(outcome.conflictCount);
  } else {
    writer.text(outcome.code);
    writer.text(JSON.stringify(outcome.fields));
  }
}

export function readOutcome(reader: ByteReader): Outcome {
  const kind = reader.u8();
  const sequence = reader.varint();
  if (kind === ADMITTED)
    return { kind: 'admitted', sequence, watermark: reader.varint(), conflictCount: reader.varint() };
  if (kind !== REJECTED) return reader.fail('the outcome has an unknown kind');
  const { code, fields } = readErrorFields(reader);
  return { kind: 'rejected', sequence, code, fields };
}

/** Reads a code and its fields, as in outcomes and failures. A code of a newer server becomes `internal`. */
export function readErrorFields(reader: ByteReader): { code: ErrorCode; fields: ErrorFields } {
  const code = reader.text();
  let fields: unknown;
  try {
    fields = JSON.parse(reader.text());
  } catch {
    return reader.fail('the fields are not JSON');
  }
  const error = RockpoolError.fromData({ code, fields });
  return { code: isErrorCode(code) ? code : 'internal', fields: error.fields };
}
