import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ChangeGroup } from '../change/changeset.ts';
import { readGroups } from '../change/changeset-codec.ts';

/**
 * Rows of the delivery that follows, which would be too long for one message. They count with it: what came in parts is
 * applied in one transaction, and forgotten when the connection ends before the delivery itself has come.
 */
export interface DeliveryPart {
  readonly type: 'delivery-part';
  readonly groups: readonly ChangeGroup[];
}

export function readDeliveryPart(reader: ByteReader): DeliveryPart {
  return { type: 'delivery-part', groups: readGroups(reader) };
}
