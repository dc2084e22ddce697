import type { Client } from '../client.ts';
import { createDevice, type NodeClientOptions } from './device.ts';

export type { Transport, TransportConnection, TransportEvents } from '../rpc/transport.ts';
export { createDevice, type Device, type NodeClientOptions, type NodeSyncOptions } from './device.ts';
export { inProcess, type InProcessServer } from './in-process.ts';

/**
 * A client in Node, on a device of its own, for an app's tests: the same SQLite, the same sync, over a real WebSocket.
 * Needs Node 22.
 */
export function createClient(options: NodeClientOptions): Promise<Client> {
  return createDevice().createClient(options);
}
