import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import type { ErrorCode } from '../errors/error-codes.ts';
import type { ErrorFields } from '../errors/rockpool-error.ts';
import { readErrorFields } from './outcome.ts';

/** Server to client: the reason why the connection ends. The server closes it after this message. */
export interface Failure {
  readonly type: 'failure';
  readonly code: ErrorCode;
  readonly fields: ErrorFields;
}

export function writeFailure(writer: ByteWriter, failure: Failure): void {
  writer.text(failure.code);
  writer.text(JSON.stringify(failure.fields));
}

export function readFailure(reader: ByteReader): Failure {
  return { type: 'failure', ...readErrorFields(reader) };
}
