import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import type { PostgresOfRun } from './postgres-of-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * A port that responds to a connection with the administrator's URL of the run's PostgreSQL server. The first
     * connection starts that server.
     */
    postgresDoor: number | undefined;
  }
}

/** Provides one PostgreSQL server for all test files of a project, when the first of them asks for it. */
export default async function openDoor(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresOfRun> | undefined;
  const start = async (): Promise<PostgresOfRun> => (await import('./postgres-of-run.ts')).postgresOfRun();
  const door = createServer((socket) => {
    server ??= start();
    server.then(
      ({ administratorUrl }) => socket.end(administratorUrl),
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

/** Returns the administrator's URL of the run's PostgreSQL server. */
export async function urlBehind(door: number): Promise<string> {
  const socket = connect(door, '127.0.0.1').setEncoding('utf8');
  const answer = (await socket.toArray()).join('');
  if (!answer.startsWith('postgres')) throw new Error(`PostgreSQL did not start: ${answer}`);
  return answer;
}
