import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import type { PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * A port that responds to a connection with the port of the run's PostgreSQL server. The first connection starts
     * that server.
     */
    postgresDoor: number | undefined;
  }
}

/** Starts one PostgreSQL server for all test files of a project, when the first of them asks for it. */
export default async function openDoor(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const start = async (): Promise<PostgresServer> => (await import('./postgres-server.ts')).PostgresServer.start();
  const door = createServer((socket) => {
    server ??= start();
    server.then(
      ({ port }) => socket.end(String(port)),
      (error: unknown) => socket.end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  project.provide('postgresDoor', (door.address() as AddressInfo).port);
  return async () => {
    door.close();
    await (await server)?.stop();
  };
}

/** Returns the port of the run's PostgreSQL server. */
export async function portBehind(door: number): Promise<number> {
  const socket = connect(door, '127.0.0.1').setEncoding('utf8');
  const answer = (await socket.toArray()).join('');
  const port = Number(answer);
  if (!Number.isInteger(port)) throw new Error(`PostgreSQL did not start: ${answer}`);
  return port;
}
