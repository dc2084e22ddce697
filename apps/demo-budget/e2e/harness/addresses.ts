import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/**
 * The addresses that gateways listen on. The ports stay open while a browser is in use, so that no port is assigned
 * twice.
 */
export interface Addresses {
  /**
   * Returns the server at the address that a test's first, second or later user opens. The browser has cached the app's
   * files from these addresses, with their compiled code, which saves a second of processor time.
   */
  ofPerson(index: number): Promise<Server>;
  /** An address from which the browser has cached nothing. */
  another(): Promise<Server>;
  close(): void;
}

export function openAddresses(): Addresses {
  const opened: Server[] = [];
  const ofPersons: Server[] = [];
  const another = async (): Promise<Server> => {
    const server = await listen();
    opened.push(server);
    return server;
  };
  return {
    ofPerson: async (index) => (ofPersons[index] ??= await another()),
    another,
    close() {
      for (const server of opened) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** Listens on a free port. Connections get no response until a gateway opens there. */
export async function listen(): Promise<Server> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
