import { spawn, spawnSync } from 'node:child_process';
import { freePort } from '../../../tests/kit/free-port.ts';

/** A server with the protocol of S3, in memory. */
export interface MotoServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Why moto cannot be started here, or null. It is a Python package: `pip install "moto[server]"`. */
export function motoProblem(): string | null {
  const { status, error } = spawnSync('python3', ['-c', 'import moto.server, flask']);
  if (error !== undefined) return 'python3 is not installed';
  return status === 0 ? null : 'the Python package moto[server] is not installed';
}

export async function startMoto(): Promise<MotoServer> {
  const port = await freePort();
  const child = spawn('python3', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Running on')) resolve();
    });
    void ended.then(() => reject(new Error(`moto ended before it was ready: ${output}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
