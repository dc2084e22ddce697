import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import type { ChangeGroup } from '../change/changeset.ts';
import { readGroups, writeGroups } from '../change/changeset-codec.ts';
import { readOutcome, writeOutcome, type Outcome } from './outcome.ts';

export const LOG_HASH_BYTES = 16;

/** The hash of an empty log. */
export const FIRST_LOG_HASH: Uint8Array = new Uint8Array(LOG_HASH_BYTES);

/**
 * The one ordered stream from the server: live changes, catch-up and responses to pushes are all deliveries. A delivery
 * takes the client from watermark `from` to `to` in one transaction:
 *
 * 1. `outcomes` are the decisions about the client's changesets, up to `lastAckedSequence`. They are applied first.
 * 2. `groups` hold the state at `to` of everything that changed after `from`: new rows (insert: the whole row), cells
 *    of rows (update) and deleted rows (delete). They omit cells that have the value that the client wrote. They
 *    include the cells of its decided changesets that have a different value, however old that value is.
 */
export interface Delivery {
  readonly type: 'delivery';
  /**
   * Whether the delivery replaces the local state. From 0 the groups are the full state at `to`: a row that they do not
   * name is deleted. From any other watermark they are the changes since the snapshot that the hello named. See
   * Welcome.fullResync.
   */
  readonly whole: boolean;
  readonly from: number;
  readonly to: number;
  /** The log hash at `to`. */
  readonly logHash: Uint8Array;
  readonly lastAckedSequence: number;
  readonly outcomes: readonly Outcome[];
  readonly groups: readonly ChangeGroup[];
}

export type DeliveryHead = Omit<Delivery, 'groups'>;

export function writeDelivery(writer: ByteWriter, delivery: Delivery): void {
  writeDeliveryHead(writer, delivery);
  writeGroups(writer, delivery.groups);
}

/** Writes what precedes the groups. A server that sends one state to many sessions encodes the groups once. */
export function writeDeliveryHead(writer: ByteWriter, delivery: DeliveryHead): void {
  writer.u8(delivery.whole ? 1 : 0);
  writer.varint(delivery.from);
  writer.varint(delivery.to);
  writer.bytes(delivery.logHash);
  writer.varint(delivery.lastAckedSequence);
  writer.varint(delivery.outcomes.length);
  for (const outcome of delivery.outcomes) writeOutcome(writer, outcome);
}

export function readDelivery(reader: ByteReader): Delivery {
  const whole = reader.flag();
  const from = reader.varint();
  const to = reader.varint();
  const logHash = reader.bytes(LOG_HASH_BYTES).slice();
  const lastAckedSequence = reader.varint();
  if (to < from) reader.fail('a delivery ends before it begins');
  const outcomes: Outcome[] = [];
  const outcomeCount = reader.count(4);
  for (let i = 0; i < outcomeCount; i++) outcomes.push(readOutcome(reader));
  return { type: 'delivery', whole, from, to, logHash, lastAckedSequence, outcomes, groups: readGroups(reader) };
}
