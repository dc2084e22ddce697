import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ChangeGroup } from '../change/changeset.ts';
import { readGroups } from '../change/changeset-codec.ts';

/**
 * Rows of the delivery that follows, which is too long for one message. Parts and delivery are applied in one
 * transaction. Parts are discarded when the connection ends before their delivery arrives.
 */
export interface DeliveryPart {
  readonly type: 'delivery-part';
  readonly groups: readonly ChangeGroup[];
}

export function readDeliveryPart(reader: ByteReader): DeliveryPart {
  return { type: 'delivery-part', groups: readGroups(reader) };
}
