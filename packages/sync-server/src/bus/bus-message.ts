import { isTraceparent } from '../observe/push-trace.ts';
import type { BusMessage, BusTopic } from './bus.ts';

/** Returns the key of a topic in maps. No database has the id `*`. */
export function topicKey(topic: BusTopic): string {
  return topic === 'members' ? '*' : topic.databaseId;
}

export function topicOf(message: BusMessage): BusTopic {
  return message.kind === 'members' ? 'members' : message;
}

/** Null if the text is not a message: any program with access to the channel can send on it. */
export function readBusMessage(text: string): BusMessage | null {
  let message: Partial<Record<string, unknown>> | null;
  try {
    message = JSON.parse(text) as Partial<Record<string, unknown>> | null;
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null || typeof message['databaseId'] !== 'string') return null;
  const isComplete =
    message['kind'] === 'members' ||
    (message['kind'] === 'commit' &&
      Number.isSafeInteger(message['head']) &&
      (message['traceparent'] === undefined || isTraceparent(message['traceparent']))) ||
    (message['kind'] === 'presence' &&
      typeof message['instance'] === 'string' &&
      typeof message['update'] === 'string' &&
      typeof message['asks'] === 'boolean');
  return isComplete ? (message as unknown as BusMessage) : null;
}
