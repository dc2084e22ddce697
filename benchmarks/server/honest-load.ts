import { get } from 'node:http';
import { insert } from '../../packages/sync-server/testing/changeset.ts';
import type { TestConnection } from '../../packages/sync-server/testing/test-client.ts';
import { openConnection } from './server-process.ts';

export interface HonestFigures {
  readonly commitMs: readonly number[];
  readonly healthMs: readonly number[];
  /** The times of the same requests to a process that only responds: the part of `healthMs` that the machine causes. */
  readonly bareMs: readonly number[];
}

const PAUSE_MS = 50;

/** Clients of small databases that write a row now and then, and a load balancer that asks for `/health`. */
export class HonestLoad {
  private readonly port: number;
  private readonly barePort: number;
  private readonly connections: readonly TestConnection[];

  private constructor(port: number, barePort: number, connections: readonly TestConnection[]) {
    this.port = port;
    this.barePort = barePort;
    this.connections = connections;
  }

  static async open(port: number, barePort: number, databaseIds: readonly string[]): Promise<HonestLoad> {
    return new HonestLoad(port, barePort, await Promise.all(databaseIds.map((id) => openConnection(port, id))));
  }

  async measure(durationMs: number): Promise<HonestFigures> {
    const commitMs: number[] = [];
    const healthMs: number[] = [];
    const bareMs: number[] = [];
    const until = performance.now() + durationMs;
    await Promise.all([
      ...this.connections.map((connection) =>
        repeat(until, async () => {
          const id = `row-${connection.site.changelog.length}`;
          const startMs = performance.now();
          await connection.commit([insert('accounts', id, { name: id })]);
          commitMs.push(performance.now() - startMs);
          connection.confirm();
        }),
      ),
      repeat(until, async () => void healthMs.push(await askHealth(this.port))),
      repeat(until, async () => void bareMs.push(await askHealth(this.barePort))),
    ]);
    return { commitMs, healthMs, bareMs };
  }

  close(): void {
    for (const connection of this.connections) connection.cut();
  }
}

/**
 * Resolves with the time until the response, in ms. Opens a connection for each request, because a server that was busy
 * closes idle connections even if the next request is on its way.
 */
function askHealth(port: number): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/health', agent: false }, (response) => {
      response.resume().once('end', () => resolve(performance.now() - startMs));
    }).once('error', reject);
  });
}

async function repeat(untilMs: number, step: () => Promise<void>): Promise<void> {
  while (performance.now() < untilMs) {
    await step();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (0.5 + Math.random())));
  }
}
