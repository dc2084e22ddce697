import type { Client } from '@rockpool/client';
import { withDeviceItems, type DeviceItems } from '../budget/device-items.ts';

/**
 * Reconnecting pauses and resumes sync, and a pause outlasts the tab. This device therefore stores the id of the budget
 * that it reconnects. If the tab closes in between, sync does not stay paused: the next tab resumes it.
 */

const itemName = 'reconnecting';

/** Opens a new connection, with a new token. The budget is the one that the client has open. */
export async function reconnect({ sync }: Pick<Client, 'sync'>, databaseId: string): Promise<void> {
  await withDeviceItems((items) => items.setItem(itemName, databaseId));
  await sync.pause();
  await sync.resume();
  await withDeviceItems((items) => forget(items, databaseId));
}

/** Resumes sync if a tab closed while it was reconnecting this budget. */
export async function endReconnect({ sync }: Pick<Client, 'sync'>, databaseId: string): Promise<void> {
  if ((await withDeviceItems((items) => items.getItem(itemName))) !== databaseId) return;
  await sync.resume();
  await withDeviceItems((items) => forget(items, databaseId));
}

/** Pauses sync until the user resumes it. */
export async function pauseByUser({ sync }: Pick<Client, 'sync'>, databaseId: string): Promise<void> {
  await withDeviceItems((items) => forget(items, databaseId));
  await sync.pause();
}

function forget(items: DeviceItems, databaseId: string): void {
  if (items.getItem(itemName) === databaseId) items.setItem(itemName, '');
}
