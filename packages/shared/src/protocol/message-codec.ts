import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { ChangeGroup } from '../change/changeset.ts';
import { writeGroups } from '../change/changeset-codec.ts';
import { readAudit, writeAudit, type Audit } from './audit.ts';
import { readAuditAnswer, writeAuditAnswer, type AuditAnswer } from './audit-answer.ts';
import { readConfirm, writeConfirm, type Confirm } from './confirm.ts';
import { readDelivery, writeDelivery, writeDeliveryHead, type Delivery, type DeliveryHead } from './delivery.ts';
import { readDeliveryPart, type DeliveryPart } from './delivery-part.ts';
import { readFailure, writeFailure, type Failure } from './failure.ts';
import { readHello, writeHello, type Hello } from './hello.ts';
import { readPong, writePong, type Ping, type Pong } from './ping.ts';
import {
  readPresence,
  readPresenceUpdate,
  writePresence,
  writePresenceUpdate,
  type Presence,
  type PresenceUpdate,
} from './presence.ts';
import { formOf, readPush, writePush, type Push, type PushForm } from './push.ts';
import { readRenewToken, writeRenewToken, type RenewToken } from './renew-token.ts';
import { readWelcome, writeWelcome, type Welcome } from './welcome.ts';

export type ClientMessage = Hello | Push | Confirm | RenewToken | Ping | Audit | Presence;
export type ServerMessage = Welcome | Delivery | Failure | Pong | AuditAnswer | DeliveryPart | PresenceUpdate;

/** The first byte of every message. A code is never reused; 8 is a compressed message (packed.ts). */
export const MESSAGE_CODES = {
  hello: 1,
  push: 2,
  confirm: 3,
  'renew-token': 4,
  ping: 5,
  audit: 6,
  presence: 7,
  welcome: 65,
  delivery: 66,
  failure: 67,
  pong: 68,
  'audit-answer': 69,
  'delivery-part': 70,
  'presence-update': 71,
} as const;

/** The first byte of a push, by its form. */
const PUSH_CODES = { plain: MESSAGE_CODES.push, origins: 9, sites: 10 } as const satisfies Record<PushForm, number>;

export function encodeMessage(message: ClientMessage | ServerMessage): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(codeOf(message));
  switch (message.type) {
    case 'hello':
      writeHello(writer, message);
      break;
    case 'push':
      writePush(writer, message);
      break;
    case 'confirm':
      writeConfirm(writer, message);
      break;
    case 'renew-token':
      writeRenewToken(writer, message);
      break;
    case 'welcome':
      writeWelcome(writer, message);
      break;
    case 'delivery':
      writeDelivery(writer, message);
      break;
    case 'failure':
      writeFailure(writer, message);
      break;
    case 'pong':
      writePong(writer, message);
      break;
    case 'audit':
      writeAudit(writer, message);
      break;
    case 'audit-answer':
      writeAuditAnswer(writer, message);
      break;
    case 'delivery-part':
      writeGroups(writer, message.groups);
      break;
    case 'presence':
      writePresence(writer, message);
      break;
    case 'presence-update':
      writePresenceUpdate(writer, message);
      break;
    case 'ping':
      break;
  }
  return writer.finish();
}

function codeOf(message: ClientMessage | ServerMessage): number {
  return message.type === 'push' ? PUSH_CODES[formOf(message)] : MESSAGE_CODES[message.type];
}

/** Encodes the groups of a delivery for encodeDelivery and encodeDeliveryPart. */
export function encodeDeliveryGroups(groups: readonly ChangeGroup[]): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writeGroups(writer, groups);
  return writer.finish();
}

/** Returns the same bytes as encodeMessage for this head and these groups. */
export function encodeDelivery(head: DeliveryHead, encodedGroups: Uint8Array): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(MESSAGE_CODES.delivery);
  writeDeliveryHead(writer, head);
  writer.bytes(encodedGroups);
  return writer.finish();
}

/** Returns the same bytes as encodeMessage for a part with these groups. */
export function encodeDeliveryPart(encodedGroups: Uint8Array): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(MESSAGE_CODES['delivery-part']);
  writer.bytes(encodedGroups);
  return writer.finish();
}

/**
 * Throws `frame-invalid` for anything that is not a client message, and `protocol-version` for a hello of an
 * unsupported version.
 */
export function decodeClientMessage(bytes: Uint8Array): ClientMessage {
  return decode(bytes, (code, reader): ClientMessage => {
    switch (code) {
      case MESSAGE_CODES.hello:
        return readHello(reader);
      case MESSAGE_CODES.push:
        return readPush(reader, 'plain');
      case PUSH_CODES.origins:
        return readPush(reader, 'origins');
      case PUSH_CODES.sites:
        return readPush(reader, 'sites');
      case MESSAGE_CODES.confirm:
        return readConfirm(reader);
      case MESSAGE_CODES['renew-token']:
        return readRenewToken(reader);
      case MESSAGE_CODES.ping:
        return { type: 'ping' };
      case MESSAGE_CODES.audit:
        return readAudit(reader);
      case MESSAGE_CODES.presence:
        return readPresence(reader);
      default:
        return reader.fail('the message has an unknown type');
    }
  });
}

/**
 * Throws `frame-invalid` for anything that is not a server message, and `protocol-version` for a welcome of an
 * unsupported version.
 */
export function decodeServerMessage(bytes: Uint8Array): ServerMessage {
  return decode(bytes, (code, reader): ServerMessage => {
    switch (code) {
      case MESSAGE_CODES.welcome:
        return readWelcome(reader);
      case MESSAGE_CODES.delivery:
        return readDelivery(reader);
      case MESSAGE_CODES.failure:
        return readFailure(reader);
      case MESSAGE_CODES.pong:
        return readPong(reader);
      case MESSAGE_CODES['audit-answer']:
        return readAuditAnswer(reader);
      case MESSAGE_CODES['delivery-part']:
        return readDeliveryPart(reader);
      case MESSAGE_CODES['presence-update']:
        return readPresenceUpdate(reader);
      default:
        return reader.fail('the message has an unknown type');
    }
  });
}

function decode<Message>(bytes: Uint8Array, read: (code: number, reader: ByteReader) => Message): Message {
  const reader = new ByteReader(bytes, 'frame-invalid');
  const message = read(reader.u8(), reader);
  reader.expectEnd();
  return message;
}
