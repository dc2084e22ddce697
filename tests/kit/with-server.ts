import type { OpenDatabaseOptions } from '#client/worker/database/open-database.ts';
import { testSchema } from '#client/testing/worker/test-database.ts';
import type { SyncServerOptions } from '#sync-server/sync-server.ts';
import { TestServer } from '#sync-server/testing/test-server.ts';
import { SocketDevice } from './socket-device.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { inMemory } from './test-device.ts';

/** Starts a device that audits all the time. */
export function startDevice(server: TestServer, options: Partial<OpenDatabaseOptions> = {}): SocketDevice {
  const device = new SocketDevice({
    server: () => server,
    opened: inMemory(options),
    auditTimes: { quietMs: 0, intervalMs: 20 },
  });
  device.start();
  return device;
}

/** Runs a test with its own server and devices. */
export async function withServer(
  body: (server: TestServer, device: (options?: Partial<OpenDatabaseOptions>) => SocketDevice) => Promise<void>,
  options: Partial<SyncServerOptions> = {},
): Promise<void> {
  const server = await TestServer.start(temporaryFolder(), { schema: testSchema, ...options });
  const devices: SocketDevice[] = [];
  try {
    await body(server, (deviceOptions) => {
      const device = startDevice(server, deviceOptions);
      devices.push(device);
      return device;
    });
  } finally {
    for (const device of devices) await device.close();
    await server.stop();
  }
}
